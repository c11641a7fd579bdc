internal import Crypto
internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// Brings a private key into a token.
///
/// The private key comes first, is read back and proves itself; the public key beside it comes last. So a private key
/// without a public one, under the label and ID that it would have, is an import that was interrupted.
struct KeyImport {
    let bench: TokenBench
    let key: IncomingKey
    let name: KeyName
    let allowsClear: Bool
    let tell: @Sendable (String) -> Void

    func run(isResumed: Bool) throws(KeyError) -> PlacedKey {
        try bench.requireSigning()
        let present = try KeyPresence(name, key.publicKey, on: bench)
        if let leftover = present.leftover {
            if let placed = try finish(leftover, hasPublicKey: false) { return placed }
        } else if isResumed, let whole = present.whole, let placed = try finish(whole, hasPublicKey: true) {
            return placed
        } else if let sentence = present.refusal(name, bench.info) {
            throw .unfit(sentence)
        }
        try remove(orphans: present.orphans)
        return try place()
    }

    // MARK: What was there

    /// An import that was interrupted: it goes on, or its remains go.
    ///
    /// - Returns: nil when they are gone and the import has to begin anew.
    private func finish(_ object: ObjectHandle, hasPublicKey: Bool) throws(KeyError) -> PlacedKey? {
        let holds = (try? PossessionProof.holds(object, key.publicKey, in: bench.session)) ?? false
        let readback = try? KeyReadback(object, on: bench)
        if holds, let readback, readback.faults.isEmpty {
            tell("The key is there from an import that did not end; it is as it should be, and has proven itself.")
            return try placed(.found, readback, hasPublicKey: hasPublicKey)
        }
        guard name.isDerived, !holds else {
            throw .unfit(
                "The token \(bench.info.name) holds a key under this label and ID already, and it is not as this import "
                    + "would have made it. Look at it, and destroy it with privyseal keys destroy before you go on.")
        }
        tell("The remains of an import that was interrupted are removed.")
        try bench.attempt("destroy what an interrupted import left") { session throws(PKCS11Error) in
            try session.destroy(object)
        }
        return nil
    }

    private func remove(orphans: [ObjectHandle]) throws(KeyError) {
        guard !orphans.isEmpty else { return }
        tell("A public key without its private key was left on the token; it is removed.")
        try bench.attempt("destroy a public key that was left") { session throws(PKCS11Error) in
            for orphan in orphans { try session.destroy(orphan) }
        }
    }

    // MARK: What comes

    private func place() throws(KeyError) -> PlacedKey {
        let arrived = try bringIn()
        do throws(KeyError) {
            var readback = try KeyReadback(arrived.object, on: bench)
            guard readback.faults.isEmpty else {
                throw .unfit(
                    "The token \(bench.info.name) made something else of the key than was asked: "
                        + "\(readback.faults.joined(separator: ", ")).")
            }
            tell("Read back: sensitive, not extractable, private, good for signing only.")
            let holds = try bench.attempt("sign a proof of possession") { session throws(PKCS11Error) in
                try PossessionProof.holds(arrived.object, key.publicKey, in: session)
            }
            guard holds else {
                throw .unfit("The key on the token does not sign for the public key that it should: it is another one.")
            }
            tell("The key has proven that it belongs to its public key.")
            readback.warnings = arrived.warnings + readback.warnings
            return try placed(arrived.method, readback, hasPublicKey: false)
        } catch {
            throw remove(arrived.object, because: error)
        }
    }

    /// - Parameter hasPublicKey: whether the token has it already.
    private func placed(
        _ method: PlacedKey.Method, _ readback: KeyReadback, hasPublicKey: Bool
    ) throws(KeyError) -> PlacedKey {
        let refusal = hasPublicKey ? nil : try placePublicKey()
        return PlacedKey(
            publicKey: key.publicKey, method: method, label: name.label, id: name.id, attributes: readback.attributes,
            warnings: readback.warnings + [refusal].compactMap(\.self), lacksPublicKey: refusal != nil)
    }

    /// The private key is worth keeping without it: the configuration can name the public key.
    ///
    /// - Returns: why the token has no public key object now, or nil.
    private func placePublicKey() throws(KeyError) -> String? {
        try bench.attempt("store the public key") { session throws(PKCS11Error) in
            // Some tokens make it themselves.
            if try !KeyPresence.objects(of: key.publicKey, in: session).isEmpty { return nil }
            do throws(PKCS11Error) {
                _ = try KeyTemplate.firstAccepted(KeyTemplate.publicKey(name, key.publicKey)) {
                    template throws(PKCS11Error) in
                    try session.createObject(template)
                }
                return nil
            } catch {
                // Any other answer concerns the public key alone; the private key has proven itself.
                guard !Self.losses.contains(error.returnValue.recovery) else { throw error }
                return
                    "The token stores no public key object (\(error)). The private key is in its place; put the public "
                    + "key into a file, and name that with publicKeyFile in the configuration."
            }
        }
    }

    /// The session or the token is gone, and with it the certainty that the private key is there.
    private static let losses: Set<RecoveryClass> = [.session, .login, .slot, .module]

    /// Nothing is left half done.
    private func remove(_ object: ObjectHandle, because error: KeyError) -> KeyError {
        do throws(PKCS11Error) {
            try bench.session.destroy(object)
            return error
        } catch let second {
            return .failed(
                "\(error) What was made could not be removed (\(second)): run privyseal keys destroy, or this import "
                    + "again.")
        }
    }

    private func bringIn() throws(KeyError) -> ArrivedKey {
        switch key {
        case .wrapped(let package):
            return try PackageOpening(
                bench: bench, package: package, templates: KeyTemplate.privateKey(name), tell: tell
            ).run()
        case .plain(let material):
            return try bringIn(material)
        }
    }

    private static let deniedMechanisms = "the mechanisms for C_UnwrapKey that it lists and denies"

    private func bringIn(_ material: KeyMaterial) throws(KeyError) -> ArrivedKey {
        var obstacle = try PlainUnwrapping.missing(on: bench)
        if obstacle == nil {
            if let arrived = try PlainUnwrapping.run(material, name, on: bench, tell) { return arrived }
            obstacle = Self.deniedMechanisms
        }
        var other = try PairUnwrapping.missing(on: bench)
        if other == nil {
            if let arrived = try PairUnwrapping.run(material, name, on: bench, tell) { return arrived }
            other = Self.deniedMechanisms
        }
        let lacks = "it lacks \(obstacle ?? ""), and for an RSA pair \(other ?? "")"
        guard allowsClear else {
            throw .unfit(
                "The token \(bench.info.name) cannot take the key wrapped: \(lacks). Nothing was sent to it. To send the key "
                    + "in the clear through the module and whatever lies between, by C_CreateObject, give "
                    + "--allow-clear-import.")
        }
        var arrived = try PlainCreation.run(material, name, on: bench)
        let warning =
            "The token cannot unwrap (\(lacks)), so the key went to it in the clear by C_CreateObject: it passed through "
            + "the module's memory and whatever lies between."
        tell(warning)
        arrived.warnings.insert(warning, at: 0)
        return arrived
    }
}
