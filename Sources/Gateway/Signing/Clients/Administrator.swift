/// The person who orders key lifecycle changes: a client with all its credentials.
///
/// Dual control compares persons. Two clients with a common proof are one person. A renamed client is the same person.
public struct Administrator: Equatable, Sendable {
    /// The client's name, for audit entries.
    public let name: String
    /// One digest for each token, certificate, identity and uid of the client, in ascending order.
    public let proofs: [String]

    /// A client with more proofs cannot take part in dual control: a proposal stores the proofs of two persons.
    package static let maximumProofs = 64

    /// - Parameter proofs: results of `proof(_:)`.
    public init(name: String, proofs: [String] = []) {
        self.name = name
        self.proofs = proofs.sorted()
    }

    package init(_ settings: ClientSettings) {
        let certificates = settings.certificates.map { certificate in
            switch certificate {
            case .fingerprint(let digest): Self.proof("certificate:\(digest)")
            case .dnsName(let name):
                Self.proof("dns:" + String(decoding: CertificateFacts.lowerCase(name), as: UTF8.self))
            case .uri(let uri): Self.proof("uri:\(uri)")
            }
        }
        let identities = settings.identities.map { identity in
            let claims = identity.claims.map { "\n\($0.name)=\($0.value)" }.sorted().joined()
            return Self.proof("identity:\(identity.issuer)\n\(identity.subject)\(claims)")
        }
        self.init(
            name: settings.name,
            proofs: settings.tokens.map { Self.proof("token:\($0.digest)") } + certificates + identities
                + settings.uids.map { Self.proof("uid:\($0)") })
    }

    /// Root and the gateway's own user. They need no other credentials on the admin socket.
    ///
    /// - Parameter uid: the user that this process runs as.
    public static func `operator`(uid: UInt32) -> Administrator {
        Administrator(name: Client.operator.name, proofs: Set([0, uid]).map { proof("uid:\($0)") })
    }

    package var isOperator: Bool { name == Client.operator.name }

    package func isSamePerson(as other: Administrator) -> Bool {
        name == other.name || !Set(identities).isDisjoint(with: other.identities)
    }

    /// The proofs, and the name in the form of a proof.
    package var identities: [String] { proofs + [Self.proof(ofName: name)] }

    /// The entry for a name among the proofs of a person who had several names.
    static func proof(ofName name: String) -> String { proof("name:\(name)") }

    /// The first 16 bytes of the SHA-256 of a credential, in hexadecimal digits.
    static func proof(_ text: String) -> String { String("\(Digest256(of: text))".prefix(32)) }
}

/// The clients of a configuration as persons, found by any name, token, certificate or uid.
package struct ConfiguredPersons: Sendable {
    private let persons: [Administrator]
    /// The indices of the clients by name or proof.
    private let owners: [String: [Int]]

    /// The maximum number of proofs that the register stores for one person.
    private static let maximumProofs = 2 * Administrator.maximumProofs

    /// - Parameter clients: all clients. It leaves out those with more proofs than dual control allows.
    package init(_ clients: [ClientSettings]) {
        let persons = clients.map(Administrator.init).filter { $0.proofs.count <= Administrator.maximumProofs }
        var owners: [String: [Int]] = [:]
        for (index, person) in persons.enumerated() {
            for identity in person.identities { owners[identity, default: []].append(index) }
        }
        (self.persons, self.owners) = (persons, owners)
    }

    /// The names and proofs that this configuration adds to the person. Clients that share a name or proof with the
    /// person belong to it, and so do clients that share one with those.
    package func newIdentities(of person: Administrator) -> [String] {
        let known = Set(person.identities)
        var (found, waiting) = (known, person.identities)
        while let identity = waiting.popLast() {
            for owner in owners[identity] ?? [] {
                for another in persons[owner].identities where found.insert(another).inserted {
                    waiting.append(another)
                }
            }
        }
        return Array(found.subtracting(known).sorted().prefix(max(0, Self.maximumProofs - person.proofs.count)))
    }
}
