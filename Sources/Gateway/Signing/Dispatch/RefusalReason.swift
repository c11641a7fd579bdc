/// How an audit entry names a refusal: as the HTTP answer does. `GatewayHTTP` has the mapping from errors.
public struct RefusalReason: Sendable {
    /// The problem type without its prefix, such as `unknown-app`.
    public let type: String
    /// The HTTP status.
    public let status: Int
    /// Whether the audit log only counts the refusal: a rule or limit refused the request before signing.
    public let isCounted: Bool

    public init(type: String, status: Int, isCounted: Bool) {
        self.type = type
        self.status = status
        self.isCounted = isCounted
    }
}
