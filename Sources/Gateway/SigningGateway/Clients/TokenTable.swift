import SigningKit

struct TokenTable: Sendable {
    struct Entry: Sendable {
        /// The indices of the clients with the token. Several are a configuration error; the token then proves none.
        var clients: [Int]
        var expires: Timestamp?
    }

    /// Each digest once, at the index of its entry.
    private let digests: [SIMD4<UInt64>]
    private let entries: [Entry]

    init(_ clients: [ClientSettings]) {
        var positions: [Digest256: Int] = [:]
        var entries: [Entry] = []
        for (index, client) in clients.enumerated() {
            for token in client.tokens {
                guard let position = positions[token.digest] else {
                    positions[token.digest] = entries.count
                    entries.append(Entry(clients: [index], expires: token.expires))
                    continue
                }
                entries[position].add(index, token.expires)
            }
        }
        var digests = [SIMD4<UInt64>](repeating: .zero, count: entries.count)
        for (digest, position) in positions { digests[position] = digest.words }
        self.digests = digests
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
        let entry = position(of: Digest256(of: text)).map { entries[$0] }
        if let entry, entry.expires.map({ $0 > now }) ?? true { return entry }
        let fault = Self.fault(of: text)
        throw entry.map { .expiredToken(client: owner($0)) } ?? fault
    }

    /// Compares every digest completely, so that the time depends only on the number of digests.
    private func position(of digest: Digest256) -> Int? {
        let wanted = digest.words
        // The index plus 1; 0 for none. At most one digest is equal, so `|` is enough.
        var found: UInt64 = 0
        digests.withUnsafeBufferPointer { digests in
            for index in digests.indices {
                let difference = digests[index] ^ wanted
                let bits = difference[0] | difference[1] | difference[2] | difference[3]
                // The top bit of `bits | -bits` is 0 only if `bits` is 0. All ones if equal, else 0, without a branch.
                let isEqual = (bits | (0 &- bits)) &>> 63 &- 1
                found |= isEqual & UInt64(truncatingIfNeeded: index &+ 1)
            }
        }
        return found == 0 ? nil : Int(truncatingIfNeeded: found) - 1
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
