public import SigningKit

/// A token for a service of Apple that is valid for a day or longer, as its entries show it. Such a token outlives the
/// request, and perhaps its key: people paste it into other systems.
public struct LongLivedToken: Codable, Sendable {
    /// The name of the log that has the entry.
    public let log: String
    /// The index of the entry.
    public let entry: Int
    /// `signature` for its first holder, `handout` for each further one. A holder that got it again is listed once.
    public let kind: String
    public let client: String
    /// The name in the configuration.
    public let service: String
    public let profile: String
    public let keyID: String
    public let issuedAt: Timestamp
    public let expires: Timestamp

    private enum CodingKeys: String, CodingKey {
        case log, entry, kind, client, service, profile, issuedAt
        case keyID = "keyId"
        case expires = "expiresAt"
    }

    /// In seconds.
    static let minimumLifetime: Int64 = 86_400
    /// In seconds. Apple accepts no token that is valid for longer than six months.
    static let maximumLifetime: Int64 = 184 * 86_400
    /// The value of `AuditTerm.lifetime`.
    static let term = "long"

    /// Nil unless the entry is about such a token.
    init?(_ fields: EntryFields, at index: Int, in log: String) {
        guard let kind = fields.kind, let client = fields.text("client"), let app = fields.text("app"),
            let profile = fields.text("feature"), let keyID = fields.text("key"), let issuedAt = fields.time,
            let expires = fields.text("expires").flatMap({ Timestamp(rfc3339: Array($0.utf8)) })
        else { return nil }
        self.log = log
        entry = index
        self.kind = kind
        self.client = client
        service = String(app.trimmingPrefix("services/"))
        self.profile = profile
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.expires = expires
    }

    /// Finds the entries of tokens that may be valid at a time.
    public static func query(at now: Timestamp, keyID: String? = nil) -> AuditQuery {
        var query = AuditQuery()
        query.since = now.later(by: -maximumLifetime)
        query.terms = [.lifetime: term]
        query.terms[.key] = keyID
        return query
    }
}

/// The tokens that a search has found, those that expire first at the beginning.
public struct LongLivedTokens: Codable, Sendable {
    public var tokens: [LongLivedToken] = []
    /// False if entries of the last 184 days were archived, or if more were found than `limit`.
    public var isComplete = true

    /// The most entries of one log, of the latest. A token that is reused has an entry for each use.
    static let limit = 50_000

    private enum CodingKeys: String, CodingKey {
        case tokens
        case isComplete = "complete"
    }
}

extension Sequence where Element == any AuditReader {
    /// The long-lived tokens of all these logs, see `AuditReader.longLivedTokens`.
    public func longLivedTokens(at now: Timestamp, keyID: String? = nil) throws(AuditStoreError) -> LongLivedTokens {
        var all = LongLivedTokens()
        for reader in self {
            let found = try reader.longLivedTokens(at: now, keyID: keyID)
            all.tokens += found.tokens
            all.isComplete = all.isComplete && found.isComplete
        }
        all.tokens.sort { ($0.expires, $0.log, $0.entry) < ($1.expires, $1.log, $1.entry) }
        return all
    }
}

extension AuditReader {
    /// The long-lived tokens that are valid at a time.
    public func longLivedTokens(at now: Timestamp, keyID: String? = nil) throws(AuditStoreError) -> LongLivedTokens {
        let query = LongLivedToken.query(at: now, keyID: keyID)
        var byHolder: [[String]: LongLivedToken] = [:]
        var count = 0
        // The latest entries come first, so the earliest entry of each holder remains.
        try search(query) { (entry) throws(AuditStoreError) in
            guard let fields = EntryFields(entry.body),
                let token = LongLivedToken(fields, at: entry.index, in: identity.origin), token.expires > now
            else { return true }
            // All entries of a token have its digest.
            let holder = [token.client, fields.text("digest") ?? ""]
            byHolder[holder] = token
            count += 1
            return count < LongLivedTokens.limit
        }
        let isArchived = try archived(before: query) != nil
        let tokens = byHolder.values.sorted { ($0.expires, $0.entry) < ($1.expires, $1.entry) }
        return LongLivedTokens(tokens: tokens, isComplete: count < LongLivedTokens.limit && !isArchived)
    }
}
