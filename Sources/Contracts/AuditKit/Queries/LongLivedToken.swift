public import SigningKit

/// A token for a service of Apple that is valid for a day or longer, as its entries show it. Such a token outlives the
/// request, and perhaps its key: people paste it into other systems.
public struct LongLivedToken: Codable, Sendable {
    /// The name of the log that has the entry.
    public let log: String
    /// The index of the entry.
    public let entry: Int
    /// `signature` for its first holder, `handout` for each further one.
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
    init?(_ entry: StoredEntry, in log: String) {
        guard let fields = EntryFields(entry.body), let kind = fields.kind, let client = fields.text("client"),
            let app = fields.text("app"), let profile = fields.text("feature"), let keyID = fields.text("key"),
            let issuedAt = fields.time,
            let expires = fields.text("expires").flatMap({ Timestamp(rfc3339: Array($0.utf8)) })
        else { return nil }
        self.log = log
        self.entry = entry.index
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

extension Sequence where Element == any AuditReader {
    /// Whether entries that may be about such tokens were archived.
    public func lacksLongLivedTokens(at now: Timestamp) throws(AuditStoreError) -> Bool {
        for reader in self where try reader.archived(before: LongLivedToken.query(at: now)) != nil { return true }
        return false
    }

    /// The long-lived tokens of all these logs, see `AuditReader.longLivedTokens`.
    public func longLivedTokens(at now: Timestamp, keyID: String? = nil) throws(AuditStoreError) -> [LongLivedToken] {
        var tokens: [LongLivedToken] = []
        for reader in self { tokens += try reader.longLivedTokens(at: now, keyID: keyID) }
        return tokens.sorted { ($0.expires, $0.log, $0.entry) < ($1.expires, $1.log, $1.entry) }
    }
}

extension AuditReader {
    /// The long-lived tokens that are valid at a time, those that expire first at the beginning.
    ///
    /// - Parameter limit: of the latest ones.
    public func longLivedTokens(
        at now: Timestamp, keyID: String? = nil, limit: Int = 10_000
    ) throws(AuditStoreError) -> [LongLivedToken] {
        var tokens: [LongLivedToken] = []
        try search(LongLivedToken.query(at: now, keyID: keyID)) { (entry) throws(AuditStoreError) in
            if let token = LongLivedToken(entry, in: identity.origin), token.expires > now { tokens.append(token) }
            return tokens.count < limit
        }
        return tokens.sorted { ($0.expires, $0.entry) < ($1.expires, $1.entry) }
    }
}
