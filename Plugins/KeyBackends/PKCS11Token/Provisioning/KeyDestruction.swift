internal import Crypto
internal import Encodings
internal import PKCS11
internal import SigningKit

/// Destroys a key, the private key object first, and checks that it is gone. An interruption leaves no harmful object.
struct KeyDestruction {
    let token: WritableToken
    let selector: KeySelector
    let fingerprint: PublicKeyFingerprint?
    /// Whether an earlier run may have destroyed the key already.
    let isResumed: Bool
    let tell: @Sendable (String) -> Void

    func run() throws(KeyError) -> DestroyedKey {
        let wanted = try TokenURI(selector.uri).keyAttributes
        guard !wanted.isEmpty else { throw .invalidURI("it must name the key to destroy by object=… or id=…") }
        let privates = try token.objects(with: [Attribute(.privateKey)] + wanted)
        guard privates.count <= 1 else {
            throw .ambiguous(
                "\(privates.count) private keys match \(selector.uri.path). Name one by object and id.")
        }
        var attributes = wanted
        if let key = privates.first { attributes = try identity(of: key) }
        let publics = try token.objects(with: [Attribute(.publicKey)] + attributes)
        guard isResumed || !(privates.isEmpty && publics.isEmpty) else {
            throw .notFound(
                "The token \(token.info.name) has no key that matches \(selector.uri.path). Nothing was destroyed: "
                    + "check that the token and the object are the right ones.")
        }
        let publicKey = publicKey(among: publics)
        try check(publicKey)
        // A label does not prove which key it is.
        if fingerprint != nil, publicKey == nil, !privates.isEmpty, !isResumed,
            !wanted.contains(where: { $0.kind == .id })
        {
            throw .unfit(
                "The token \(token.info.name) does not show the public key of this key, so the fingerprint cannot be "
                    + "checked. Name the key by its id=…, too. Nothing was changed.")
        }
        let places = [wanted, attributes] + attributes.map { [$0] }
        let found = try token.attempt("list its keys") { session throws(PKCS11Error) in
            try Self.privateKeys(at: places, in: session)
        }
        try token.destroy(privates, "destroy the key")
        if !privates.isEmpty { tell("The private key was destroyed.") }
        try token.destroy(publics, "destroy the public key")
        if !publics.isEmpty { tell("Its public key was destroyed.") }
        try check(places, have: found.map { $0 - privates.count }, publicKey)
        tell("A search by label, ID and public key found no object of the key.")
        return DestroyedKey(
            fingerprint: publicKey.map { PublicKeyFingerprint(of: $0) }, destroyedPrivate: privates.count,
            destroyedPublic: publics.count,
            evidence: [
                "lookedForBy": "CKA_LABEL, CKA_ID, CKA_EC_POINT", "objectsLeft": "0",
                "CKA_LABEL": String(decoding: value(.label, in: attributes), as: UTF8.self),
                "CKA_ID": Hexadecimal.encode(value(.id, in: attributes)),
            ])
    }

    /// The key's label and ID, without empty ones.
    private func identity(of key: ObjectHandle) throws(KeyError) -> [Attribute] {
        try token.attempt("show the key") { session throws(PKCS11Error) in
            let found = try FoundKey(key, in: session)
            return [Attribute(.label, bytes: found.label), Attribute(.id, bytes: found.id)].filter { !$0.value.isEmpty }
        }
    }

    private func publicKey(among objects: [ObjectHandle]) -> P256.Signing.PublicKey? {
        for object in objects {
            guard let point = try? token.session.value(of: .ecPoint, in: object) else { continue }
            if let key = try? P256.Signing.PublicKey(x963Representation: point.suffix(65)) { return key }
        }
        return nil
    }

    private func check(_ publicKey: P256.Signing.PublicKey?) throws(KeyError) {
        guard let fingerprint, let publicKey, PublicKeyFingerprint(of: publicKey) != fingerprint else { return }
        throw .unfit(
            "The key on the token \(token.info.name) has the fingerprint \(PublicKeyFingerprint(of: publicKey)), but "
                + "the key to destroy has \(fingerprint). Nothing was changed.")
    }

    /// Searches in a new session, which has no cached objects.
    ///
    /// - Parameter others: for each of `places`, the private keys that only share the label or the ID of the key.
    private func check(
        _ places: [[Attribute]], have others: [Int], _ publicKey: P256.Signing.PublicKey?
    ) throws(KeyError) {
        let isGone = try token.attempt("list its keys") { session throws(PKCS11Error) in
            let fresh = try Session(on: session.slot, of: session.module, writable: true)
            defer {
                fresh.abandon()
                _ = fresh.module.closeAbandoned(within: 1000)
            }
            let publics = if let publicKey { try ExistingKeyObjects.objects(of: publicKey, in: fresh) } else { [] }
            return try Self.privateKeys(at: places, in: fresh) == others && publics.isEmpty
        }
        guard isGone else {
            throw .failed("The token \(token.info.name) still has objects of the key after its destruction.")
        }
    }

    /// How many private keys have the attributes of each of `places`.
    private static func privateKeys(at places: [[Attribute]], in session: Session) throws(PKCS11Error) -> [Int] {
        try places.map { place throws(PKCS11Error) in
            try session.objects(with: [Attribute(.privateKey)] + place).count
        }
    }

    private func value(_ kind: Attribute.Kind, in attributes: [Attribute]) -> [UInt8] {
        attributes.first { $0.kind == kind }?.value ?? []
    }
}
