public struct AuditSettings: Hashable, Sendable {
    /// How long a write may take before the calls that wait for it are refused.
    public var writeTimeout: Duration
    /// The time between two published checkpoints.
    public var checkpointInterval: Duration
    /// The number of free bytes below which the gateway logs an alarm.
    public var reserve: Int

    public init(
        writeTimeout: Duration = .seconds(2), checkpointInterval: Duration = .seconds(60), reserve: Int = 256 << 20
    ) {
        self.writeTimeout = writeTimeout
        self.checkpointInterval = checkpointInterval
        self.reserve = reserve
    }
}
