public struct LoadSettings: Sendable {
    public var connections: Int
    /// Requests per second, over all connections.
    public var rate: Double
    /// The maximum number of requests. The record has a deviation if the load uses them all.
    public var total: Int
    public var timeout: Duration

    public init(connections: Int = 4, rate: Double = 40, total: Int = 100_000, timeout: Duration = .seconds(10)) {
        self.connections = connections
        self.rate = rate
        self.total = total
        self.timeout = timeout
    }
}
