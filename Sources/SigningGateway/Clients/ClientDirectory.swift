public import SigningKit

/// Who is who: from what a caller shows to the client that it is.
public final class ClientDirectory: Sendable {
    /// In the order of the configuration.
    public let clients: [Client]

    private let anonymous: Client?
    private let tokens: TokenTable
    private let fingerprints: [Digest256: [Int]]
    private let dnsNames: [[UInt8]: [Int]]
    private let uris: [[UInt8]: [Int]]
    private let uids: [UInt32: [Int]]

    /// Changes nothing of `previous`: a directory that is made to be looked at only may be thrown away.
    ///
    /// - Parameter previous: the directory that this one follows; clients of the same name go on with what they have used
    ///   up of their rates and quotas.
    public init(_ plan: GatewayPlan, inheriting previous: ClientDirectory? = nil) {
        let usages = Dictionary((previous?.clients ?? []).map { ($0.name, $0.usage) }) { first, _ in first }
        clients = plan.clients.map { Client($0, usage: usages[$0.name] ?? ClientUsage()) }
        anonymous = plan.allowsAnonymous ? .everything(named: Client.anonymousName, origin: "anonymous: true") : nil
        tokens = TokenTable(plan.clients)
        fingerprints = Self.index(plan.clients) { $0.certificates.compactMap(\.fingerprint) }
        dnsNames = Self.index(plan.clients) { $0.certificates.compactMap(\.dnsName) }
        uris = Self.index(plan.clients) { $0.certificates.compactMap(\.uri) }
        uids = Self.index(plan.clients) { $0.uids }
    }

    public func client(named name: String) -> Client? { clients.first { $0.name == name } }

    /// The administrator that the uid alone proves; nil unless there is exactly one.
    public func administrator(uid: UInt32) -> Administrator? {
        guard let owners = uids[uid], owners.count == 1, clients[owners[0]].isAdministrator else { return nil }
        return clients[owners[0]].administrator
    }

    /// - Parameters:
    ///   - evidence: all that there is. A token that is wrong or has expired refuses the caller whatever else is proved; a
    ///     certificate or a uid that is nobody's proves nothing.
    ///   - now: the time, for tokens that expire.
    public func identify(_ evidence: CallerEvidence, at now: Timestamp) throws(AccessError) -> Client {
        do throws(UnauthenticatedReason) { return try client(proved: evidence, now) } catch {
            throw .unauthenticated(error)
        }
    }

    private func client(proved evidence: CallerEvidence, _ now: Timestamp) throws(UnauthenticatedReason) -> Client {
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

    /// From each thing that proves a client to the clients that it proves: one, unless the configuration is mistaken.
    private static func index<Proof: Hashable>(
        _ clients: [ClientPlan], _ proofs: (ClientPlan) -> [Proof]
    ) -> [Proof: [Int]] {
        var owners: [Proof: [Int]] = [:]
        for (index, client) in clients.enumerated() {
            for proof in Set(proofs(client)) { owners[proof, default: []].append(index) }
        }
        return owners
    }
}

extension CertificatePlan {
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
