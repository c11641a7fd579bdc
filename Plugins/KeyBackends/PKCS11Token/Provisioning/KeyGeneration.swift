internal import Crypto
internal import PKCS11
internal import SigningKit

struct KeyGeneration {
    let token: WritableToken
    let selector: KeySelector
    let tell: @Sendable (String) -> Void

    func run(isResumed: Bool) throws(KeyError) -> ProvisionedKey {
        try token.requireSigning()
        let name = try KeyName(selector, publicKey: nil)
        if isResumed, let placed = try finish(name) { return placed }
        if let sentence = try ExistingKeyObjects(name, nil, on: token).refusal(name, token.info) {
            throw .unfit(sentence)
        }
        let templates = KeyTemplate.privateKey(name).map { template in
            template.filter { $0.kind != .objectClass && $0.kind != .keyType }
        }
        let publicTemplate = KeyTemplate.publicKey(name).filter { $0.kind != .objectClass && $0.kind != .keyType }
        let (pair, template) = try token.attempt("generate a P-256 key pair") { session throws(PKCS11Error) in
            try KeyTemplate.mostCompleteAccepted(templates) { template throws(PKCS11Error) in
                let isTrial = template.contains(Attribute(.isToken, false))
                let publicTemplate = isTrial ? KeyTemplate.trial(publicTemplate) : publicTemplate
                return try session.generateKeyPair(
                    .ecKeyPairGeneration, publicKey: publicTemplate, privateKey: template)
            } discard: { pair in
                try? session.destroy(pair.privateKey)
                try? session.destroy(pair.publicKey)
            }
        }
        tell("The token generated a P-256 key pair.")
        do throws(KeyError) {
            var placed = try placed(pair.privateKey, name, .generated)
            placed.warnings = KeyTemplate.warnings(template) + placed.warnings
            return placed
        } catch {
            try? token.session.destroy(pair.privateKey)
            try? token.session.destroy(pair.publicKey)
            throw error
        }
    }

    /// Uses the complete pair of an interrupted generation, or destroys half a pair.
    private func finish(_ name: KeyName) throws(KeyError) -> ProvisionedKey? {
        let label = Attribute(.label, text: name.label)
        let privates = try token.objects(with: [Attribute(.privateKey), label])
        let publics = try token.objects(with: [Attribute(.publicKey), label])
        if privates.isEmpty, publics.isEmpty { return nil }
        if privates.count == 1, publics.count == 1, let whole = try? placed(privates[0], name, .found) { return whole }
        guard privates.count <= 1, publics.count <= 1, privates.isEmpty || publics.isEmpty else { return nil }
        tell("An interrupted generation left half a key pair; it is removed.")
        try token.destroy(privates + publics, "destroy half a pair")
        return nil
    }

    private func placed(
        _ object: ObjectHandle, _ name: KeyName, _ method: ProvisionedKey.Method
    ) throws(KeyError) -> ProvisionedKey {
        var readback = try CreatedKeyCheck(object, on: token)
        for (name, value) in readback.attributes where value == "false" && Self.generated.contains(name) {
            readback.faults.append("\(name) is false")
        }
        guard readback.faults.isEmpty else {
            throw .unfit(
                "The token \(token.info.name) did not generate the key as requested: "
                    + "\(readback.faults.joined(separator: ", ")).")
        }
        let found = try token.attempt("show the key") { session throws(PKCS11Error) in
            try FoundKey(object, in: session)
        }
        let publicKey = try PublicKeySearch.find(for: found, selector, in: token.session)
        let holds = try token.attempt("sign a proof of possession") { session throws(PKCS11Error) in
            try PossessionProof.holds(object, publicKey, in: session)
        }
        guard holds else { throw .unfit("The signature of the new key does not verify with its public key.") }
        tell("Checked: generated in the token, sensitive, never extractable, for signing only; its proof is valid.")
        return ProvisionedKey(
            publicKey, method, label: name.label, id: found.id, attributes: readback.attributes,
            warnings: readback.warnings)
    }

    private static let generated: Set<String> = ["CKA_LOCAL", "CKA_ALWAYS_SENSITIVE", "CKA_NEVER_EXTRACTABLE"]
}
