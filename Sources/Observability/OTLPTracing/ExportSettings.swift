/// Settings for the delivery of spans. The defaults suit a collector on the local network.
public struct ExportSettings: Sendable {
    /// The largest number of waiting spans; further ones are dropped.
    public var queueLimit = 2048
    /// The largest number of spans in one delivery. A full batch is delivered at once, a smaller one after `interval`.
    public var batchSize = 256
    public var interval = Duration.seconds(2)
    /// Attempts for one delivery, including the first. After the last, its spans are dropped.
    public var attempts = 5
    /// The pause after the first failed attempt. It doubles with each attempt, and a random factor of 0.5 to 1 applies.
    public var initialBackoff = Duration.seconds(1)
    /// The longest pause between two attempts, even if `Retry-After` asks for more.
    public var maximumBackoff = Duration.seconds(30)
    /// The time to deliver waiting spans when the program ends.
    public var flushTime = Duration.seconds(5)

    public init() {}
}
