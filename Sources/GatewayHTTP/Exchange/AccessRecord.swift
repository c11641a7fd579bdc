/// What is logged of a request when it has been answered. No query, no body, no credential.
public struct AccessRecord: Sendable {
    public let requestID: String
    /// 32 hexadecimal digits.
    public let traceID: String?
    public let listener: ListenerName
    public let method: String
    /// As in the documentation, such as `/v1/apps/{bundleId}/{feature}`; nil for a path that there is not.
    public let route: String?
    public let status: Int
    public let duration: Duration
    public let client: String?
    public let app: String?
    public let feature: String?
    /// The kind of problem that was answered.
    public let problem: String?
}

/// Where a line is written for each request.
public protocol AccessLog: Sendable {
    func write(_ record: AccessRecord)
}
