import Crypto
import Encodings
import PKCS11
import SigningKit

/// Destroys a key, the private key object first, and checks that it is gone. An interruption leaves no harmful object.
struct KeyDestruction {
    let token: WritableToken
    let selector: KeySelector
    let fingerprint: PublicKeyFingerprint?
    /// Whether an earlier run may have destroyed the key already.
    let isResumed: Bool
    let tell: @Sendable (String) -> Void

    func run() throws -> DestroyedKey {
        let session = token.session
        let wanted = try TokenURI(selector.uri).keyAttributes
        guard !wanted.isEmpty else { throw KeyError.invalidURI("it must name the key to destroy by object=… or id=…") }
        let privates = try session.objects(with: [Attribute(.privateKey)] + wanted)
        guard privates.count <= 1 else {
            throw KeyError.ambiguous(
                "\(privates.count) private keys match \(selector.uri.path). Name one by object and id.")
        }
        var attributes = wanted
        if let key = privates.first {
            try requireECKey(key)
            let found = try FoundKey(key, in: session)
            attributes = [Attribute(.label, bytes: found.label), Attribute(.id, bytes: found.id)]
                .filter { !$0.value.isEmpty }
        }
        // Without a label and an ID, every public key of the token would match.
        let publics = attributes.isEmpty ? [] : try session.objects(with: [Attribute(.publicKey)] + attributes)
        guard isResumed || !(privates.isEmpty && publics.isEmpty) else {
            throw KeyError.notFound(
                "The token \(token.info.name) has no key that matches \(selector.uri.path). Nothing was destroyed: "
                    + "check that the token and the object are the right ones.")
        }
        let publicKey = publicKey(among: publics)
        // A label does not prove which key it is.
        let isNamed = privates.isEmpty || isResumed || wanted.contains { $0.kind == .id }
        try check(publicKey, isNamed: isNamed)
        let places = [wanted, attributes] + attributes.map { [$0] }
        // The private keys that only share the label or the ID of the key.
        let others = try Self.privateKeys(at: places, in: session).map { $0 - privates.count }
        try token.destroy(privates)
        do {
            if !privates.isEmpty { tell("The private key was destroyed.") }
            try token.destroy(publics)
            if !publics.isEmpty { tell("Its public key was destroyed.") }
            guard try isGone(publicKey, places, have: others) else {
                throw KeyError.failed(
                    "The token \(token.info.name) still has objects of the key after its destruction.")
            }
        } catch {
            throw token.keyError(error).duringDestruction
        }
        tell("A search by label, ID and public key found no object of the key.")
        let value = { kind in attributes.first { $0.kind == kind }?.value ?? [] }
        return DestroyedKey(
            fingerprint: publicKey.map { PublicKeyFingerprint(of: $0) }, destroyedPrivate: privates.count,
            destroyedPublic: publics.count,
            evidence: [
                "lookedForBy": "CKA_LABEL, CKA_ID, CKA_EC_POINT", "objectsLeft": "0",
                "CKA_LABEL": String(decoding: value(.label), as: UTF8.self),
                "CKA_ID": Hexadecimal.encode(value(.id)),
            ])
    }

    /// Throws for a key that signs nothing for Apple, such as a wrapping key.
    private func requireECKey(_ key: ObjectHandle) throws {
        guard let type = try token.session.number(.keyType, of: key), type != KeyType.ec.rawValue else { return }
        throw KeyError.unfit(
            "The private key at \(selector.uri.path) on the token \(token.info.name) is not an elliptic-curve key, so it is no "
                + "key of an account. Nothing was changed. Remove a wrapping key with pkcs11-tool --delete-object.")
    }

    private func publicKey(among objects: [ObjectHandle]) -> P256.Signing.PublicKey? {
        for object in objects {
            guard let point = try? token.session.value(of: .ecPoint, in: object) else { continue }
            if let key = try? P256.Signing.PublicKey(x963Representation: point.suffix(65)) { return key }
        }
        return nil
    }

    /// - Parameter isNamed: whether the URI is proof enough if the token does not show the public key.
    private func check(_ publicKey: P256.Signing.PublicKey?, isNamed: Bool) throws(KeyError) {
        guard let fingerprint else { return }
        guard let found = publicKey.map({ PublicKeyFingerprint(of: $0) }) else {
            if isNamed { return }
            throw .unfit(
                "The token \(token.info.name) does not show the public key of this key, so the fingerprint cannot be "
                    + "checked. Name the key by its id=…, too. Nothing was changed.")
        }
        guard found == fingerprint else {
            throw .unfit(
                "The key on the token \(token.info.name) has the fingerprint \(found), but the key to destroy has "
                    + "\(fingerprint). Nothing was changed.")
        }
    }

    /// Searches in a new session, which has no cached objects.
    private func isGone(
        _ publicKey: P256.Signing.PublicKey?, _ places: [[Attribute]], have others: [Int]
    ) throws(PKCS11Error) -> Bool {
        let fresh = try Session(on: token.session.slot, of: token.session.module, writable: true)
        defer {
            fresh.abandon()
            _ = fresh.module.closeAbandoned(within: 1000)
        }
        let publics = if let publicKey { try ExistingKeyObjects.objects(of: publicKey, in: fresh) } else { [] }
        return try Self.privateKeys(at: places, in: fresh) == others && publics.isEmpty
    }

    /// How many private keys have the attributes of each of `places`.
    private static func privateKeys(at places: [[Attribute]], in session: Session) throws(PKCS11Error) -> [Int] {
        try places.map { place throws(PKCS11Error) in
            try session.objects(with: [Attribute(.privateKey)] + place).count
        }
    }
}
