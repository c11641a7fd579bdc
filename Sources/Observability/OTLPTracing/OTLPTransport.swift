/// Sends deliveries to a collector.
public protocol OTLPTransport: Sendable {
    /// The collector's address for log lines, without user name and password.
    var destination: String { get }

    /// Sends one delivery, JSON in UTF-8, and returns the response. The time is bounded.
    func post(_ body: [UInt8]) async throws(OTLPTransportError) -> OTLPAnswer

    /// Ends the transport. Later deliveries fail.
    func close() async
}

public struct OTLPAnswer: Sendable {
    public let status: Int
    /// The value of `Retry-After`, if it is a number of seconds.
    public let retryAfter: Duration?

    public init(status: Int, retryAfter: Duration? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}

/// Why there was no response.
public enum OTLPTransportError: Error, Sendable {
    /// No listener, an unknown name, or a TLS failure, as text for people.
    case unreachable(String)
    case timedOut
}
