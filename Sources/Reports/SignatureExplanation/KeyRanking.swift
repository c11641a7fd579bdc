/// The order of the keys: those that the signature names come first.
struct KeyRanking: Sendable {
    /// The indices of the keys with the named ID. If there are none, of the keys without an ID; else of all keys.
    let named: [Int]
    let others: [Int]

    init(_ keys: [CandidateKey], named keyID: String?) {
        let exact = keys.indices.filter { keyID != nil && keys[$0].keyID == keyID }
        let nameless = keys.indices.filter { keys[$0].keyID == nil }
        let named = !exact.isEmpty ? exact : !nameless.isEmpty ? nameless : Array(keys.indices)
        self.named = named
        others = keys.indices.filter { !named.contains($0) }
    }

    var all: [Int] { named + others }

    static func findings(verifying key: CandidateKey, named keyID: String?, among keys: [CandidateKey], field: String)
        -> [Finding]
    {
        guard let keyID else { return [] }
        guard let actual = key.keyID else {
            return [
                Finding(
                    .keyIDUnchecked, .note, field: field,
                    "The key from \(key.label) has no ID, so it is not known whether \(keyID) is its ID in App Store "
                        + "Connect."
                )
            ]
        }
        guard actual != keyID else { return [] }
        let isThere = keys.contains { $0.keyID == keyID }
        return [
            Finding(
                .keyOther, .error, .proven, field: field,
                "The key \(key.name) made the signature, but the signature names \(keyID)"
                    + (isThere ? ", which is another one of the keys." : ", which is not one of the keys."))
        ]
    }
}
