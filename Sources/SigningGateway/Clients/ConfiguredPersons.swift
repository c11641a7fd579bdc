/// The clients of a configuration as persons, found by any name, token, certificate or uid.
struct ConfiguredPersons: Sendable {
    private let persons: [Administrator]
    /// From each name or proof to the clients that have it.
    private let owners: [String: [Int]]

    /// Proofs of one person that the register stores.
    private static let maximumProofs = 2 * Administrator.maximumProofs

    /// - Parameter clients: those with more proofs than dual control allows are left out.
    init(_ clients: [ClientPlan]) {
        let persons = clients.filter { client in
            client.tokens.count + client.certificates.count + client.uids.count <= Administrator.maximumProofs
        }.map(Administrator.init)
        var owners: [String: [Int]] = [:]
        for (index, person) in persons.enumerated() {
            for identity in person.identities { owners[identity, default: []].append(index) }
        }
        (self.persons, self.owners) = (persons, owners)
    }

    /// The names and proofs that the person has in this configuration and did not have before. A person is every client with a
    /// common name or proof, and every client that has one in common with that client.
    func news(of person: Administrator) -> [String] {
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
