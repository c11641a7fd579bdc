/// Identifies a request in audit entries.
public struct RequestIdentity: Sendable {
    /// The same ID as in the answer and in log lines.
    public let id: String
    /// When the request arrived.
    public let begun: ContinuousClock.Instant

    public init(id: String, begun: ContinuousClock.Instant = .now) {
        self.id = id
        self.begun = begun
    }
}
