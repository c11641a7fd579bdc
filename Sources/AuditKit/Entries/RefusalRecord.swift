public import SigningKit

/// A request from a client that is known, which got no signature.
public struct RefusalRecord: Sendable {
    public var client: String
    /// What it asked for, as far as that is configured: nothing that a caller made up stands in the log.
    public var app: String?
    public var feature: String?
    public var keyID: String?
    /// A kind of problem, such as `invalid-request`.
    public var reason: String
    /// Of HTTP.
    public var status: Int
    public var requestID: String
    /// Position in a batch, from 0.
    public var item: Int?

    public init(
        client: String, app: String? = nil, feature: String? = nil, keyID: String? = nil,
        reason: String, status: Int, requestID: String, item: Int? = nil
    ) {
        self.client = client
        self.app = app
        self.feature = feature
        self.keyID = keyID
        self.reason = reason
        self.status = status
        self.requestID = requestID
        self.item = item
    }
}

/// How many requests of one client were turned away in one minute.
public struct RefusalCounts: Sendable {
    /// Nil for those who did not prove who they are.
    public var client: String?
    /// The start of the minute.
    public var minute: Timestamp
    /// By kind of problem, such as `forbidden`.
    public var counts: [String: Int]

    public init(client: String?, minute: Timestamp, counts: [String: Int]) {
        self.client = client
        self.minute = minute
        self.counts = counts
    }
}
