internal import Crypto
internal import PKCS11
internal import SigningKit

/// Has a token make a P-256 pair.
struct KeyGeneration {
    let bench: TokenBench
    let selector: KeySelector
    let tell: @Sendable (String) -> Void

    func run(isResumed: Bool) throws(KeyError) -> PlacedKey {
        try bench.requireSigning()
        let name = try KeyName(selector, publicKey: nil)
        if isResumed, let placed = try finish(name) { return placed }
        if let sentence = try KeyPresence(name, nil, on: bench).refusal(name, bench.info) { throw .unfit(sentence) }
        let templates = KeyTemplate.privateKey(name).map { template in
            template.filter { $0.kind != .objectClass && $0.kind != .keyType }
        }
        let publicTemplate = KeyTemplate.publicKey(name).filter { $0.kind != .objectClass && $0.kind != .keyType }
        let (pair, template) = try bench.attempt("make a P-256 pair") { session throws(PKCS11Error) in
            try KeyTemplate.ladder(templates) { template throws(PKCS11Error) in
                let isTrial = template.contains(Attribute(.isToken, false))
                let publicTemplate = isTrial ? KeyTemplate.trial(publicTemplate) : publicTemplate
                return try session.generateKeyPair(
                    .ecKeyPairGeneration, publicKey: publicTemplate, privateKey: template)
            } discard: { pair in
                try? session.destroy(pair.privateKey)
                try? session.destroy(pair.publicKey)
            }
        }
        tell("The token made a P-256 pair.")
        do throws(KeyError) {
            var placed = try placed(pair.privateKey, name, .generated)
            placed.warnings = KeyTemplate.warnings(template) + placed.warnings
            return placed
        } catch {
            try? bench.session.destroy(pair.privateKey)
            try? bench.session.destroy(pair.publicKey)
            throw error
        }
    }

    /// A pair that an interrupted generation left: it is taken when it is whole, else it goes.
    private func finish(_ name: KeyName) throws(KeyError) -> PlacedKey? {
        let label = Attribute(.label, text: name.label)
        let (privates, publics) = try bench.attempt("say which keys it has") { session throws(PKCS11Error) in
            (
                try session.objects(with: [Attribute(.privateKey), label]),
                try session.objects(with: [Attribute(.publicKey), label])
            )
        }
        if privates.isEmpty, publics.isEmpty { return nil }
        if privates.count == 1, publics.count == 1, let whole = try? placed(privates[0], name, .found) { return whole }
        guard privates.count <= 1, publics.count <= 1, privates.isEmpty || publics.isEmpty else { return nil }
        tell("Half a pair was left by a generation that was interrupted; it is removed.")
        try bench.attempt("destroy half a pair") { session throws(PKCS11Error) in
            for object in privates + publics { try session.destroy(object) }
        }
        return nil
    }

    private func placed(
        _ object: ObjectHandle, _ name: KeyName, _ method: PlacedKey.Method
    ) throws(KeyError) -> PlacedKey {
        var readback = try KeyReadback(object, on: bench)
        for (name, value) in readback.attributes where value == "false" && Self.generated.contains(name) {
            readback.faults.append("\(name) is false")
        }
        guard readback.faults.isEmpty else {
            throw .unfit(
                "The token \(bench.info.name) made something else than was asked: "
                    + "\(readback.faults.joined(separator: ", ")).")
        }
        let (found, publicKey) = try publicKey(of: object)
        let holds = try bench.attempt("sign a proof of possession") { session throws(PKCS11Error) in
            try PossessionProof.holds(object, publicKey, in: session)
        }
        guard holds else { throw .unfit("The key that the token made does not sign for its public key.") }
        tell("Read back: made in the token, sensitive, never extractable, good for signing only; it has proven itself.")
        return PlacedKey(
            publicKey: publicKey, method: method, label: found.label, id: found.id, attributes: readback.attributes,
            warnings: readback.warnings)
    }

    private func publicKey(of object: ObjectHandle) throws(KeyError) -> (FoundKey, P256.Signing.PublicKey) {
        let found = try bench.attempt("show the key") { session throws(PKCS11Error) in
            try FoundKey(object, in: session)
        }
        return (found, try PublicKeySearch.find(for: found, selector, in: bench.session))
    }

    private static let generated: Set<String> = ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE"]
}
