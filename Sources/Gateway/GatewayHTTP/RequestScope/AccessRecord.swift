/// The access log's record of an answered request. It holds no query, body or credential.
public struct AccessRecord: Sendable {
    public let requestID: String
    /// 32 hexadecimal digits.
    public let traceID: String?
    public let listener: ListenerName
    public let method: String
    /// The path template, such as `/v1/apps/{bundleId}/{feature}`; nil for an unknown path.
    public let route: String?
    public let status: Int
    public let duration: Duration
    public let client: String?
    public let app: String?
    public let feature: String?
    /// The `ProblemKind` of the answer.
    public let problem: String?
}

/// Writes one line for each request.
public protocol AccessLog: Sendable {
    func write(_ record: AccessRecord)
}
