import Crypto
import PKCS11
import SigningKit

struct KeyGeneration {
    let token: WritableToken
    let selector: KeySelector
    let tell: @Sendable (String) -> Void

    func run(isResumed: Bool) throws -> ProvisionedKey {
        let session = token.session
        try token.requireSigning()
        let name = try KeyName(selector, publicKey: nil)
        if isResumed {
            // The ID of the earlier run is not known.
            try token.removeUnfinishedKeys([Attribute(.label, text: name.label)], tell: tell)
            if let placed = try finish(name) { return placed }
        }
        try ExistingKeyObjects(name, nil, in: session).requireNone(name, token.info)
        // The mechanism implies class and type.
        let publicTemplate = Self.withoutType(KeyTemplate.publicKey(name))
        let (pair, template) = try KeyTemplate.mostCompleteAccepted(
            KeyTemplate.privateKey(name).map(Self.withoutType)
        ) { template in
            let isTrial = template.contains(Attribute(.isToken, false))
            return try session.generateKeyPair(
                .ecKeyPairGeneration, publicKey: isTrial ? KeyTemplate.trial(publicTemplate) : publicTemplate,
                privateKey: template)
        } discard: { pair in
            session.discard(pair)
        }
        tell("The token generated a P-256 key pair.")
        do {
            try ExistingKeyObjects.requireOne(name, token)
            var placed = try placed(pair.privateKey, name, .generated)
            placed.warnings = KeyTemplate.warnings(template) + placed.warnings
            return placed
        } catch {
            session.discard(pair)
            throw error
        }
    }

    private static func withoutType(_ template: [Attribute]) -> [Attribute] {
        template.filter { $0.kind != .objectClass && $0.kind != .keyType }
    }

    /// Uses the complete pair of an interrupted generation, or destroys half a pair.
    private func finish(_ name: KeyName) throws -> ProvisionedKey? {
        let label = Attribute(.label, text: name.label)
        let privates = try token.session.objects(with: [Attribute(.privateKey), label])
        let publics = try token.session.objects(with: [Attribute(.publicKey), label])
        if privates.isEmpty, publics.isEmpty { return nil }
        if privates.count == 1, publics.count == 1, let whole = try? placed(privates[0], name, .found) { return whole }
        guard privates.count <= 1, publics.count <= 1, privates.isEmpty || publics.isEmpty else { return nil }
        tell("An interrupted generation left half a key pair; it is removed.")
        try token.destroy(privates + publics)
        return nil
    }

    private func placed(
        _ object: ObjectHandle, _ name: KeyName, _ method: ProvisionedKey.Method
    ) throws -> ProvisionedKey {
        let session = token.session
        let readback = try CreatedKeyCheck(object, in: session)
        let origin = KeyTemplate.origin.map(\.name)
        let denied = readback.attributes.filter { $0.value == "false" && origin.contains($0.name) }
        let faults = readback.faults + denied.map { "\($0.name) is false" }
        guard faults.isEmpty else {
            throw KeyError.unfit(
                "The token \(token.info.name) did not generate the key as requested: "
                    + "\(faults.joined(separator: ", ")).")
        }
        let found = try FoundKey(object, in: session)
        let publicKey = try PublicKeySearch.find(for: found, selector, in: session)
        guard try PossessionProof.holds(object, publicKey, in: session) else {
            throw KeyError.unfit("The signature of the new key does not verify with its public key.")
        }
        tell("Checked: generated in the token, sensitive, never extractable, for signing only; its proof is valid.")
        return ProvisionedKey(publicKey, method, label: name.label, id: found.id, readback)
    }
}

extension Session {
    /// Destroys a new key pair, as far as the token can.
    func discard(_ pair: (publicKey: ObjectHandle, privateKey: ObjectHandle)) {
        try? destroy(pair.privateKey)
        try? destroy(pair.publicKey)
    }
}
