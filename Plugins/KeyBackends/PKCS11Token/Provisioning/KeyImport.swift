internal import Crypto
internal import PKCS11
internal import SigningKit

/// Imports a private key, which is read back and proves itself before the public key is created. So a private key with
/// the expected label and ID but without a public key is an interrupted import.
struct KeyImport {
    let token: WritableToken
    let key: IncomingKey
    let name: KeyName
    let allowsClear: Bool
    let tell: @Sendable (String) -> Void

    func run(isResumed: Bool) throws -> ProvisionedKey {
        try token.requireSigning()
        let present = try ExistingKeyObjects(name, key.publicKey, in: token.session)
        if let leftover = present.leftover {
            if let placed = try finish(leftover, hasPublicKey: false) { return placed }
        } else if isResumed, let whole = present.whole, let placed = try finish(whole, hasPublicKey: true) {
            return placed
        } else {
            try present.requireNone(name, token.info)
        }
        if !present.orphans.isEmpty {
            tell("A public key without its private key was left on the token; it is removed.")
            try token.destroy(present.orphans)
        }
        return try place()
    }

    /// Completes an interrupted import. Nil if its remains are destroyed instead, and the import must begin again.
    private func finish(_ object: ObjectHandle, hasPublicKey: Bool) throws -> ProvisionedKey? {
        let holds = (try? PossessionProof.holds(object, key.publicKey, in: token.session)) ?? false
        let readback = try? CreatedKeyCheck(object, in: token.session)
        if holds, let readback, readback.faults.isEmpty {
            tell("The token has the key from an interrupted import; its attributes and its proof are correct.")
            return try placed(.found, readback, hasPublicKey: hasPublicKey)
        }
        guard name.isDerived, !holds else {
            throw KeyError.unfit(
                "The token \(token.info.name) already has a key with this label and ID, and its attributes are not "
                    + "those of this import. Check it, and destroy it with privyseal keys destroy before you go on.")
        }
        tell("The remains of an interrupted import are removed.")
        try token.destroy([object])
        return nil
    }

    private func place() throws -> ProvisionedKey {
        let newKey =
            switch key {
            case .wrapped(let package):
                try PackageUnwrapping(
                    token: token, package: package, templates: KeyTemplate.privateKey(name), tell: tell
                ).run()
            case .plain(let material):
                try PlainKeyImport(token: token, material: material, name: name, tell: tell)
                    .run(allowsClear: allowsClear)
            }
        do {
            var readback = try CreatedKeyCheck(newKey.object, in: token.session)
            guard readback.faults.isEmpty else {
                throw KeyError.unfit(
                    "The token \(token.info.name) did not store the key as requested: "
                        + "\(readback.faults.joined(separator: ", ")).")
            }
            tell("Checked: sensitive, not extractable, private, for signing only.")
            guard try PossessionProof.holds(newKey.object, key.publicKey, in: token.session) else {
                throw KeyError.unfit(
                    "The signature does not verify with the expected public key: the token has another key.")
            }
            tell("The key matches its public key: its proof of possession is valid.")
            readback.warnings = newKey.warnings + readback.warnings
            return try placed(newKey.method, readback, hasPublicKey: false)
        } catch {
            do throws(PKCS11Error) { try token.session.destroy(newKey.object) } catch let second {
                throw KeyError.failed(
                    "\(token.keyError(error)) The new key could not be removed (\(second)): run privyseal keys "
                        + "destroy, or this import again.")
            }
            throw error
        }
    }

    /// - Parameter hasPublicKey: whether the token already has the public key.
    private func placed(
        _ method: ProvisionedKey.Method, _ readback: CreatedKeyCheck, hasPublicKey: Bool
    ) throws -> ProvisionedKey {
        let refusal = hasPublicKey ? nil : try placePublicKey()
        var readback = readback
        if let refusal { readback.warnings.append(refusal) }
        return ProvisionedKey(
            key.publicKey, method, label: name.label, id: name.id, readback, lacksPublicKey: refusal != nil)
    }

    /// Stores the public key. The private key is kept without it, because the configuration can name the public key.
    ///
    /// - Returns: why the token has no public key object, or nil.
    private func placePublicKey() throws -> String? {
        // Some tokens create it themselves.
        if try !ExistingKeyObjects.objects(of: key.publicKey, in: token.session).isEmpty { return nil }
        do {
            _ = try KeyTemplate.firstAccepted(
                KeyTemplate.publicKey(name, key.publicKey), token.session.createObject)
            return nil
        } catch let error as PKCS11Error where !error.namesSession {
            // If the session or the token is lost, the private key may be missing. Any other error concerns the
            // public key alone; the private key has proven itself.
            return
                "The token stores no public key object (\(error)). The private key is stored; put the public key "
                + "into a file, and name the file with publicKeyFile in the configuration."
        }
    }
}
