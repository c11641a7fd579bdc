/// The order of the keys: those that the signature names come first.
struct KeyRanking: Sendable {
    /// The indices of the keys with the named ID. If there are none, of the keys without an ID; else of all keys.
    let named: [Int]
    /// The indices of all keys, the named ones first.
    let all: [Int]

    init(_ keys: [CandidateKey], named keyID: String?) {
        let exact = keys.indices.filter { keyID != nil && keys[$0].keyID == keyID }
        let nameless = keys.indices.filter { keys[$0].keyID == nil }
        let named = !exact.isEmpty ? exact : !nameless.isEmpty ? nameless : Array(keys.indices)
        self.named = named
        all = named + keys.indices.filter { !named.contains($0) }
    }
}
