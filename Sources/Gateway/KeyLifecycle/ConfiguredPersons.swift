import Signing

/// The clients of a configuration as persons, found by any name, token, certificate or uid.
struct ConfiguredPersons: Sendable {
    private let persons: [Administrator]
    /// The indices of the clients by name or proof.
    private let owners: [String: [Int]]

    /// The maximum number of proofs that the register stores for one person.
    private static let maximumProofs = 2 * Administrator.maximumProofs

    /// - Parameter clients: all clients. It leaves out those with more proofs than dual control allows.
    init(_ clients: [ClientSettings]) {
        let persons = clients.filter { client in
            client.tokens.count + client.certificates.count + client.uids.count <= Administrator.maximumProofs
        }.map(Administrator.init)
        var owners: [String: [Int]] = [:]
        for (index, person) in persons.enumerated() {
            for identity in person.identities { owners[identity, default: []].append(index) }
        }
        (self.persons, self.owners) = (persons, owners)
    }

    /// The names and proofs that this configuration adds to the person. Clients that share a name or proof with the
    /// person belong to it, and so do clients that share one with those.
    func newIdentities(of person: Administrator) -> [String] {
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
