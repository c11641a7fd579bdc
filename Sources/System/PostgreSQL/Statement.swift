/// An SQL statement with the values of its parameters `$1`, `$2` and so on.
public struct Statement: Sendable {
    public let sql: String
    public let values: [BoundValue]

    public init(_ sql: String, _ values: BoundValue...) {
        self.sql = sql
        self.values = values
    }
}
