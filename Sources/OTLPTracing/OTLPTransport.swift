/// Carries deliveries to where spans are collected.
public protocol OTLPTransport: Sendable {
    /// Where that is, for a log line: no user name, no password.
    var destination: String { get }

    /// Sends one delivery, JSON in UTF-8, and returns what was answered to it. Bounded in time.
    func post(_ body: [UInt8]) async throws(OTLPTransportError) -> OTLPAnswer

    /// Nothing is sent afterwards.
    func close() async
}

public struct OTLPAnswer: Sendable {
    /// An HTTP status.
    public let status: Int
    /// From `Retry-After`, where it is a number of seconds.
    public let retryAfter: Duration?

    public init(status: Int, retryAfter: Duration? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}

/// There was no answer.
public enum OTLPTransportError: Error, Sendable {
    /// Nobody listens, the name is not known, TLS failed; a text for people.
    case unreachable(String)
    case timedOut
}
