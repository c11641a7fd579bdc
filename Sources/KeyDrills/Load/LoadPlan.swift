/// How much load there is.
public struct LoadPlan: Sendable {
    public var connections: Int
    /// Requests a second, of all connections together.
    public var rate: Double
    /// Requests in all; when they are used up, the drill is failed for want of load.
    public var total: Int
    /// For an answer.
    public var timeout: Duration

    public init(connections: Int = 4, rate: Double = 40, total: Int = 100_000, timeout: Duration = .seconds(10)) {
        self.connections = connections
        self.rate = rate
        self.total = total
        self.timeout = timeout
    }
}
