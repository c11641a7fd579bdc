/// Why a delivery fails. Equal problems in a row are logged once.
enum DeliveryProblem: Equatable, Sendable {
    case unreachable
    case timedOut
    case status(Int)

    /// Whether a retry may succeed (OTLP/HTTP, "Retryable Response Codes").
    var isRetryable: Bool {
        switch self {
        case .unreachable, .timedOut: true
        case .status(let status): [429, 502, 503, 504].contains(status)
        }
    }
}

extension DeliveryProblem: CustomStringConvertible {
    /// The rest of a sentence that begins with the endpoint.
    var description: String {
        switch self {
        case .unreachable: "cannot be reached"
        case .timedOut: "does not answer in time"
        case .status(let status): "answers \(status)"
        }
    }
}
