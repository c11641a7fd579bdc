public import SigningKit

/// A request of a known client that got no signature.
public struct RefusalRecord: Sendable {
    public var client: String
    /// What the client asked for. Only configured names are recorded: the log holds no name that a caller made up.
    public var app: String?
    public var feature: String?
    public var keyID: String?
    /// The problem type, such as `invalid-request`.
    public var reason: String
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

/// The refused requests of one client in one minute that are counted instead of recorded.
public struct RefusalCounts: Sendable {
    /// Nil for unauthenticated callers.
    public var client: String?
    /// The start of the minute.
    public var minute: Timestamp
    /// Counts by problem type, such as `forbidden`.
    public var counts: [String: Int]

    public init(client: String?, minute: Timestamp, counts: [String: Int]) {
        self.client = client
        self.minute = minute
        self.counts = counts
    }
}
