public import SigningKit

/// A search in the log. An entry matches if it meets all given conditions.
public struct AuditQuery: Hashable, Sendable {
    /// Start of the period, inclusive.
    public var since: Timestamp?
    /// End of the period, exclusive.
    public var until: Timestamp?
    /// For each field, the exact bytes of one of its values.
    public var terms: [AuditTerm: String] = [:]
    public var isLatestFirst = true
    /// Limits the search to these indexes, for example to continue a previous search.
    public var indexes = 0..<Int.max
    /// Whether the search index may select the entries. It is not trusted: the search misses an entry that it omits.
    public var usesIndex = true

    public init() {}

    /// Whether the query has no condition on time or fields.
    public var isForEverything: Bool { since == nil && until == nil && terms.isEmpty }
}

/// The indexed fields.
public enum AuditTerm: String, CaseIterable, Hashable, Sendable {
    case client, app, feature
    /// Any of the entry's products or offers.
    case product, offer
    /// The key ID.
    case key
    /// `signed`, or the reason of a refusal.
    case outcome
    case requestID = "requestId"
    case kind
    /// The keyed hash of `UserHash`.
    case user
    /// `long` for a token that was valid for a day or longer.
    case lifetime
}
