import SigningKit

/// The tokens of all clients.
struct TokenTable: Sendable {
    struct Entry: Sendable {
        /// The clients that have the token. More than one is a mistake of the configuration, and then it proves nobody.
        var clients: [Int]
        var expires: Timestamp?
    }

    /// Each once; at the same position as its entry.
    private let digests: [SIMD4<UInt64>]
    private let entries: [Entry]

    init(_ clients: [ClientPlan]) {
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

    /// The token's entry.
    ///
    /// - Parameter owner: who had a token that has expired.
    /// - Throws: for a token that is unknown or has expired, after the same work: how long a refusal takes does not say
    ///   whether the token was ever valid.
    func entry(
        of text: String, at now: Timestamp, owner: (Entry) -> String
    ) throws(UnauthenticatedReason) -> Entry {
        // Before the hash, so that a long header costs nothing.
        guard text.utf8.count == ClientToken.length else { throw Self.fault(of: text) }
        let entry = position(of: Digest256(of: text)).map { entries[$0] }
        if let entry, entry.expires.map({ $0 > now }) ?? true { return entry }
        let fault = Self.fault(of: text)
        throw entry.map { .expiredToken(client: owner($0)) } ?? fault
    }

    /// Looks at every digest, and at all of each, whatever it finds: how long it takes says only how many there are.
    private func position(of digest: Digest256) -> Int? {
        let wanted = digest.words
        // The position and one; 0 for none. At most one digest is equal, so `|` is enough.
        var found: UInt64 = 0
        digests.withUnsafeBufferPointer { digests in
            for index in digests.indices {
                let difference = digests[index] ^ wanted
                let bits = difference[0] | difference[1] | difference[2] | difference[3]
                // The highest bit of `bits | -bits` says whether any is set: all ones when none is, else 0, without a branch.
                let isEqual = (bits | (0 &- bits)) &>> 63 &- 1
                found |= isEqual & UInt64(truncatingIfNeeded: index &+ 1)
            }
        }
        return found == 0 ? nil : Int(truncatingIfNeeded: found) - 1
    }

    /// Only a token that is refused already is looked at so closely.
    private static func fault(of text: String) -> UnauthenticatedReason {
        // A reason, not an answer: a long text need not be read to its end.
        guard text.utf8.count <= 4 * ClientToken.length else { return .malformedToken(.notAToken) }
        do {
            _ = try ClientToken(text)
            return .unknownToken
        } catch { return .malformedToken(error) }
    }
}

extension TokenTable.Entry {
    /// The same token again: the later expiry counts, and none at all is the latest.
    fileprivate mutating func add(_ client: Int, _ expires: Timestamp?) {
        if !clients.contains(client) { clients.append(client) }
        guard let known = self.expires else { return }
        self.expires = expires.map { max(known, $0) }
    }
}
