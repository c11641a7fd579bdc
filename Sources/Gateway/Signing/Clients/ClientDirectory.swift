public import SigningKit

/// Finds the client to which a caller's credentials belong.
public final class ClientDirectory: Sendable {
    /// In the order of the configuration.
    public let clients: [Client]

    private let anonymous: Client?
    private let tokens: TokenTable
    private let fingerprints: [Digest256: [Int]]
    private let dnsNames: [[UInt8]: [Int]]
    private let uris: [[UInt8]: [Int]]
    private let uids: [UInt32: [Int]]

    /// Does not change `previous`, so a directory that is made for a check only can be discarded.
    ///
    /// - Parameter previous: the directory before this one. Clients of the same name keep their used rate and quota.
    public init(_ settings: GatewaySettings, inheriting previous: ClientDirectory? = nil) {
        let usages = Dictionary((previous?.clients ?? []).map { ($0.name, $0.usage) }) { first, _ in first }
        clients = settings.clients.map { Client($0, usage: usages[$0.name] ?? ClientUsage()) }
        anonymous = settings.allowsAnonymous ? .everything(named: Client.anonymousName, origin: "anonymous: true") : nil
        tokens = TokenTable(settings.clients)
        fingerprints = Self.index(settings.clients) { $0.certificates.compactMap(\.fingerprint) }
        dnsNames = Self.index(settings.clients) { $0.certificates.compactMap(\.dnsName) }
        uris = Self.index(settings.clients) { $0.certificates.compactMap(\.uri) }
        uids = Self.index(settings.clients) { $0.uids }
    }

    public func client(named name: String) -> Client? { clients.first { $0.name == name } }

    /// The administrator that the uid alone proves; nil unless there is exactly one.
    public func administrator(uid: UInt32) -> Administrator? {
        guard let owners = uids[uid], owners.count == 1, clients[owners[0]].isAdministrator else { return nil }
        return clients[owners[0]].administrator
    }

    /// - Parameter evidence: all credentials. A wrong or expired token refuses the caller in spite of any other
    ///   credential. A certificate or uid of no client is ignored.
    public func identify(_ evidence: CallerCredentials, at now: Timestamp) throws(AccessError) -> Client {
        do throws(UnauthenticatedReason) { return try client(proved: evidence, now) } catch {
            throw .unauthenticated(error)
        }
    }

    private func client(proved evidence: CallerCredentials, _ now: Timestamp) throws(UnauthenticatedReason) -> Client {
        var proved: Int?
        if let token = evidence.bearerToken {
            let entry = try tokens.entry(of: token, at: now) { entry in
                entry.clients.first.map { clients[$0].name } ?? ""
            }
            try note(entry.clients, &proved)
        }
        if let certificate = evidence.certificate {
            try note(fingerprints[certificate.fingerprint], &proved)
            for name in certificate.dnsNames { try note(dnsNames[name], &proved) }
            for uri in certificate.uris { try note(uris[uri], &proved) }
        }
        if let uid = evidence.uid { try note(uids[uid], &proved) }
        if let proved { return clients[proved] }
        guard let anonymous else { throw .nobody }
        return anonymous
    }

    private func note(_ owners: [Int]?, _ proved: inout Int?) throws(UnauthenticatedReason) {
        for owner in owners ?? [] {
            if let other = proved, other != owner { throw .twoClients(clients[other].name, clients[owner].name) }
            proved = owner
        }
    }

    /// The indices of the clients by credential. More than one for a credential is an error of the configuration.
    private static func index<Proof: Hashable>(
        _ clients: [ClientSettings], _ proofs: (ClientSettings) -> [Proof]
    ) -> [Proof: [Int]] {
        var owners: [Proof: [Int]] = [:]
        for (index, client) in clients.enumerated() {
            for proof in Set(proofs(client)) { owners[proof, default: []].append(index) }
        }
        return owners
    }
}

extension CertificateSettings {
    fileprivate var fingerprint: Digest256? {
        if case .fingerprint(let digest) = self { digest } else { nil }
    }

    fileprivate var dnsName: [UInt8]? {
        if case .dnsName(let name) = self { CertificateFacts.lowerCase(name) } else { nil }
    }

    fileprivate var uri: [UInt8]? {
        if case .uri(let uri) = self { Array(uri.utf8) } else { nil }
    }
}

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
