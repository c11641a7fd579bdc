/// How spans are delivered. The defaults suit a collector nearby.
public struct ExportSettings: Sendable {
    /// Spans that may wait, at most; more are dropped.
    public var queueLimit = 2048
    /// Spans in one delivery, at most. So many are delivered at once, fewer when `interval` is over.
    public var batchSize = 256
    public var interval = Duration.seconds(2)
    /// For one delivery, the first included; then its spans are dropped.
    public var attempts = 5
    /// After the first attempt that failed; it doubles from one to the next, and about half of it is chance.
    public var firstPause = Duration.seconds(1)
    /// Between two attempts, whatever `Retry-After` asks for.
    public var longestPause = Duration.seconds(30)
    /// For what still waits when the program ends.
    public var flushTime = Duration.seconds(5)

    public init() {}
}
