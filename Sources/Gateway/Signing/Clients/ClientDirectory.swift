public import SigningKit
public import WorkloadIdentities

/// Finds the client to which a caller's credentials belong.
public final class ClientDirectory: Sendable {
    /// In the order of the configuration.
    public let clients: [Client]

    private let anonymous: Client?
    private let tokens: TokenTable
    private let fingerprints: [Digest256: [Int]]
    private let dnsNames: [[UInt8]: [Int]]
    private let uris: [[UInt8]: [Int]]
    private let identities: [(settings: IdentitySettings, client: Int)]
    private let uids: [UInt32: [Int]]

    /// Does not change `previous`, so a directory that is made for a check only can be discarded.
    ///
    /// - Parameter previous: the directory before this one. Clients of the same name keep their used rate and quota.
    public init(_ settings: GatewaySettings, inheriting previous: ClientDirectory? = nil) {
        let usages = Dictionary((previous?.clients ?? []).map { ($0.name, $0.usage) }) { first, _ in first }
        clients = settings.clients.map { Client($0, usage: usages[$0.name] ?? ClientUsage()) }
        anonymous = settings.allowsAnonymous ? .everything(named: Client.anonymousName, origin: "anonymous: true") : nil
        tokens = TokenTable(settings.clients)
        fingerprints = Self.index(settings.clients) { client in
            client.certificates.compactMap { if case .fingerprint(let digest) = $0 { digest } else { nil } }
        }
        dnsNames = Self.index(settings.clients) { client in
            client.certificates.compactMap { certificate in
                if case .dnsName(let name) = certificate { CertificateFacts.lowerCase(name) } else { nil }
            }
        }
        uris = Self.index(settings.clients) { client in
            client.certificates.compactMap { if case .uri(let uri) = $0 { Array(uri.utf8) } else { nil } }
        }
        identities = settings.clients.enumerated().flatMap { index, client in
            client.identities.map { ($0, index) }
        }
        uids = Self.index(settings.clients) { $0.uids }
    }

    public func client(named name: String) -> Client? { clients.first { $0.name == name } }

    /// The administrator that the uid alone proves; nil unless there is exactly one.
    public func administrator(uid: UInt32) -> Administrator? {
        guard let owners = uids[uid], owners.count == 1, clients[owners[0]].isAdministrator else { return nil }
        return clients[owners[0]].administrator
    }

    /// A wrong or expired token, and an identity of no client, refuse the caller in spite of any other credential. A
    /// certificate or uid of no client is ignored.
    ///
    /// - Parameters:
    ///   - token: the text after `Bearer ` in the Authorization header (RFC 6750 §2.1); nil without one. Empty text is
    ///     wrong.
    ///   - identity: what the bearer token proves if it is a JWT of an issuer; there is then no `token`.
    ///   - certificate: from the client's certificate, which TLS has verified under the configured roots.
    ///   - uid: of the peer process of a Unix socket (`SO_PEERCRED`, unix(7)).
    public func identify(
        bearerToken token: String? = nil, identity: WorkloadIdentity? = nil, certificate: CertificateFacts? = nil,
        uid: UInt32? = nil, at now: Timestamp
    ) throws(UnauthenticatedReason) -> Client {
        var proved: Int?
        if let token {
            let entry = try tokens.entry(of: token, at: now) { entry in
                entry.clients.first.map { clients[$0].name } ?? ""
            }
            try note(entry.clients, &proved)
        }
        if let identity {
            let owners = identities.filter { $0.settings.matches(identity) }.map(\.client)
            guard !owners.isEmpty else { throw .identityOfNoClient(issuer: identity.issuer) }
            try note(owners, &proved)
        }
        if let certificate {
            try note(fingerprints[certificate.fingerprint], &proved)
            for name in certificate.dnsNames { try note(dnsNames[name], &proved) }
            for uri in certificate.uris { try note(uris[uri], &proved) }
        }
        if let uid { try note(uids[uid], &proved) }
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
                var entry = entries[token.digest] ?? Entry(clients: [], expires: token.expires)
                if entry.clients.last != index { entry.clients.append(index) }
                // Of several expiries of one token, the latest counts; no expiry is the latest.
                entry.expires = entry.expires.flatMap { known in token.expires.map { max(known, $0) } }
                entries[token.digest] = entry
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

/// The identities in a verified certificate. Made once for each connection.
public struct CertificateFacts: Sendable {
    /// The SHA-256 of its SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7).
    public let fingerprint: Digest256
    /// In lower case, as UTF-8.
    let dnsNames: [[UInt8]]
    /// As UTF-8, because `String` treats canonically equivalent texts as equal.
    let uris: [[UInt8]]

    /// - Parameters:
    ///   - dnsNames: the subject alternative names of type dNSName (RFC 5280 §4.2.1.6). The common name is not one.
    ///   - uris: the subject alternative names of type uniformResourceIdentifier.
    public init(fingerprint: Digest256, dnsNames: [String] = [], uris: [String] = []) {
        self.fingerprint = fingerprint
        self.dnsNames = dnsNames.map(Self.lowerCase)
        self.uris = uris.map { Array($0.utf8) }
    }

    /// Changes ASCII letters only, as DNS compares names (RFC 4343 §3).
    static func lowerCase(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

/// What was wrong with a caller's credentials. It is for the operator's log, and contains no part of a token. The
/// answer to the caller is always the same.
public enum UnauthenticatedReason: Error, Equatable, Sendable {
    /// There is no token, and no certificate or uid of a client.
    case nobody
    /// The text does not have the form of a token. It is probably mistyped.
    case malformedToken(ClientTokenError)
    /// The token is well-formed, but belongs to no client.
    case unknownToken
    case expiredToken(client: String)
    /// The JWT proves no identity.
    case wrongIdentity(IdentityError)
    /// The JWT is valid, but no client has its subject and claims.
    case identityOfNoClient(issuer: String)
    /// The client's certificate has expired since the handshake, or is not valid yet.
    case certificateOutOfDate
    /// The credentials belong to two different clients.
    case twoClients(String, String)
}

extension UnauthenticatedReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nobody: "The request has no token, and no certificate or uid of a client."
        case .malformedToken(let error): "The token is malformed: \(error)."
        case .unknownToken: "The token is well-formed, but belongs to no client."
        case .expiredToken(let client): "The token of the client \(client) has expired."
        case .wrongIdentity(let error): "\(error)"
        case .identityOfNoClient(let issuer):
            "The token of the issuer \(issuer) is valid, but no client has its subject and its claims."
        case .certificateOutOfDate: "The client's certificate is outside its period of validity."
        case .twoClients(let first, let second): "The credentials belong to two clients, \(first) and \(second)."
        }
    }
}
