/// How an audit log is kept.
public struct AuditSettings: Hashable, Sendable {
    /// How long a write may take before everybody who waits for it is refused.
    public var writeTimeout: Duration
    /// Between two checkpoints that go out.
    public var checkpointInterval: Duration
    /// Free bytes below which an alarm is raised.
    public var reserve: Int

    public init(
        writeTimeout: Duration = .seconds(2), checkpointInterval: Duration = .seconds(60), reserve: Int = 256 << 20
    ) {
        self.writeTimeout = writeTimeout
        self.checkpointInterval = checkpointInterval
        self.reserve = reserve
    }
}
