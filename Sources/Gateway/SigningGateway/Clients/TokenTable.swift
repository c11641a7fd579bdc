import SigningKit

/// The tokens of all clients.
struct TokenTable: Sendable {
    struct Entry: Sendable {
        /// The indices of the clients with the token. Several are a configuration error; the token then proves none.
        var clients: [Int]
        var expires: Timestamp?
    }

    /// By the digest of the token. A caller cannot choose digests, so the time of a search in a hash table reveals
    /// nothing about the tokens.
    private let entries: [Digest256: Entry]

    init(_ clients: [ClientSettings]) {
        var entries: [Digest256: Entry] = [:]
        for (index, client) in clients.enumerated() {
            for token in client.tokens {
                if entries[token.digest] == nil {
                    entries[token.digest] = Entry(clients: [index], expires: token.expires)
                } else {
                    entries[token.digest]?.add(index, token.expires)
                }
            }
        }
        self.entries = entries
    }

    /// - Parameter owner: returns the name of the client, for the error of an expired token.
    /// - Throws: for an unknown or expired token, after the same amount of work: the time of a refusal does not reveal
    ///   whether the token was ever valid.
    func entry(
        of text: String, at now: Timestamp, owner: (Entry) -> String
    ) throws(UnauthenticatedReason) -> Entry {
        // Check the length first, so that a long header is not hashed.
        guard text.utf8.count == ClientToken.length else { throw Self.fault(of: text) }
        let entry = entries[Digest256(of: text)]
        if let entry, entry.expires.map({ $0 > now }) ?? true { return entry }
        let fault = Self.fault(of: text)
        throw entry.map { .expiredToken(client: owner($0)) } ?? fault
    }

    /// The reason for the refusal. Call it for a refused token only.
    private static func fault(of text: String) -> UnauthenticatedReason {
        // The reason is only for the operator, so a long text need not be read completely.
        guard text.utf8.count <= 4 * ClientToken.length else { return .malformedToken(.notAToken) }
        do {
            _ = try ClientToken(text)
            return .unknownToken
        } catch { return .malformedToken(error) }
    }
}

extension TokenTable.Entry {
    /// Adds another client or expiry for the same token. The later expiry counts; no expiry is the latest.
    fileprivate mutating func add(_ client: Int, _ expires: Timestamp?) {
        if !clients.contains(client) { clients.append(client) }
        guard let known = self.expires else { return }
        self.expires = expires.map { max(known, $0) }
    }
}
