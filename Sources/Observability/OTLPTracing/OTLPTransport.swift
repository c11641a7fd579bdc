/// Sends deliveries to a collector.
public protocol OTLPTransport: Sendable {
    /// The collector's address for log lines, without user name and password.
    var destination: String { get }

    /// Sends one delivery, JSON in UTF-8. The time is bounded.
    func post(_ body: [UInt8]) async throws(DeliveryProblem)
}

/// Why a delivery fails.
public enum DeliveryProblem: Error, Equatable {
    /// No listener, an unknown name, or a TLS failure, as text for people.
    case unreachable(String)
    case timedOut
    /// A status that is not 2xx. The duration is that of `Retry-After`, if it is a number of seconds.
    case status(Int, retryAfter: Duration?)

    /// Whether a retry may succeed (OTLP/HTTP, "Retryable Response Codes").
    var isRetryable: Bool {
        switch self {
        case .unreachable, .timedOut: true
        case .status(let status, _): [429, 502, 503, 504].contains(status)
        }
    }

    var retryAfter: Duration? {
        if case .status(_, let duration) = self { duration } else { nil }
    }

    /// The rest of a sentence that begins with the endpoint. Problems with equal summaries in a row are logged once.
    var summary: String {
        switch self {
        case .unreachable: "cannot be reached"
        case .timedOut: "does not answer in time"
        case .status(let status, _): "answers \(status)"
        }
    }
}
