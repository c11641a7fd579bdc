/// What tells one request from another, for the record.
public struct RequestMark: Sendable {
    /// The same as in the answer and in the log.
    public let id: String
    /// When it arrived.
    public let begun: ContinuousClock.Instant

    public init(id: String, begun: ContinuousClock.Instant = .now) {
        self.id = id
        self.begun = begun
    }
}
