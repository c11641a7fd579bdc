public import SigningKit

/// What to look for. Everything that is given must hold.
public struct AuditQuery: Hashable, Sendable {
    /// From this moment on.
    public var since: Timestamp?
    /// Before this moment.
    public var until: Timestamp?
    /// Each by the exact bytes of one of the field's values; at most one text for each field.
    public var terms: [AuditTerm: String] = [:]
    public var isLatestFirst = true
    /// Entries by index, for who goes on where an answer ended.
    public var indexes = 0..<Int.max
    /// Whether the search index may say which entries are read. It is not trusted: an entry that it leaves out is not found.
    public var usesIndex = true

    public init() {}

    /// Whether nothing is asked of an entry.
    public var isForEverything: Bool { since == nil && until == nil && terms.isEmpty }
}

/// The fields that are indexed.
public enum AuditTerm: String, CaseIterable, Hashable, Sendable {
    case client, app, feature
    /// Any of the entry's products or offers.
    case product, offer
    /// Key ID.
    case key
    /// `signed`, or the reason of a refusal.
    case outcome
    case requestID = "requestId"
    /// As in `kind`.
    case kind
    /// The keyed hash.
    case user
}

/// How many signatures a client got with a key in an hour, or how many of its requests were refused.
public struct AuditTally: Hashable, Sendable {
    /// The start of the hour, or of the day where the reader of tallies puts hours together.
    public let begin: Timestamp
    public let client: String?
    public let feature: String?
    public let key: String?
    /// `signed`, or the reason of the refusal.
    public let outcome: String
    public let count: Int

    public init(begin: Timestamp, client: String?, feature: String?, key: String?, outcome: String, count: Int) {
        self.begin = begin
        self.client = client
        self.feature = feature
        self.key = key
        self.outcome = outcome
        self.count = count
    }
}
