import Crypto
import KeyTransport
import PKCS11
import SigningKit

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
        if isResumed, name.isDerived { try token.removeUnfinishedKeys(name.attributes, tell: tell) }
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
        let holds = try holds(object)
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

    /// Whether the object is our key. A key that can never sign is not.
    ///
    /// - Throws: the error of a token that may sign later. It does not show that the object may be destroyed.
    private func holds(_ object: ObjectHandle) throws -> Bool {
        do { return try PossessionProof.holds(object, key.publicKey, in: token.session) } catch let error as PKCS11Error
            where error.returnValue.recovery == .never
        {
            return false
        }
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
            try ExistingKeyObjects.requireOne(name, token)
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
    /// Two commands at the same time may store it twice. That harms nothing, and a destruction removes both.
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

/// Imports a key from a file. It reaches the token in wrapped form, or in the clear if the operator allows it.
struct PlainKeyImport {
    let token: WritableToken
    let material: KeyMaterial
    let name: KeyName
    let tell: (String) -> Void

    func run(allowsClear: Bool) throws -> NewPrivateKey {
        let lackForAES = try mechanismMissingForAES()
        if lackForAES == nil, let newKey = try unwrapUnderAESKey() { return newKey }
        let lackForRSA = try mechanismMissingForRSA()
        if lackForRSA == nil, let newKey = try unwrapUnderRSAPair() { return newKey }
        let denied = "working mechanisms for C_UnwrapKey (it denies those that it lists)"
        let lacks = "it lacks \(lackForAES ?? denied), and for an RSA pair \(lackForRSA ?? denied)"
        guard allowsClear else {
            throw KeyError.unfit(
                "The token \(token.info.name) cannot import the key in wrapped form: \(lacks). Nothing was sent to "
                    + "it. To send the key in the clear through the module and all software between, by "
                    + "C_CreateObject, give --allow-clear-import.")
        }
        var newKey = try createObject()
        let warning =
            "The token cannot unwrap (\(lacks)), so the key went to it in the clear by C_CreateObject: it passed through "
            + "the module's memory and all software between."
        tell(warning)
        newKey.warnings.insert(warning, at: 0)
        return newKey
    }

    // MARK: Under an AES key

    private func mechanismMissingForAES() throws -> String? {
        if try !token.has(.aesKeyGeneration, for: .generate) { return "CKM_AES_KEY_GEN" }
        if try !token.has(.aesECB, for: .encrypt) { return "CKM_AES_ECB for C_Encrypt" }
        return try missingPaddedWrap()
    }

    private func missingPaddedWrap() throws -> String? {
        try token.paddedWraps().isEmpty ? "CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD for C_UnwrapKey" : nil
    }

    /// Imports the key under an AES key that the token generates, never reveals, and destroys after the import.
    ///
    /// Tokens wrap only objects (`C_WrapKey`), and few support RFC 5649 in `C_Encrypt`. So this code computes the
    /// wrapping, over single blocks that the token encrypts (`CKM_AES_ECB`): docs/adr/0034.
    ///
    /// - Returns: nil if the token lists the necessary mechanisms but denies them.
    private func unwrapUnderAESKey() throws -> NewPrivateKey? {
        let session = token.session
        let aes = try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: true)) { template in
            try session.generateKey(.aesKeyGeneration, template)
        }.made
        // A session object: it would also end with the session.
        defer { try? session.destroy(aes) }
        tell("The token generated an AES-256 key for this import.")
        let wrapped = try material.pkcs8.withBytes { plain in
            try PaddedKeyWrap.wrap(plain) { block in try session.encrypt(block, with: aes, .aesECB) }
        }
        guard let wrapped else { throw KeyError.unfit("The size of the key is not that of a P-256 key.") }
        let newKey = try token.unwrap(
            wrapped, with: aes, by: token.paddedWraps(), KeyTemplate.privateKey(name), as: .unwrapped)
        if newKey != nil { tell("The token unwrapped the key with it (C_UnwrapKey).") }
        return newKey
    }

    // MARK: Under an RSA pair

    private func mechanismMissingForRSA() throws -> String? {
        if try !token.has(.rsaKeyPairGeneration, for: .generateKeyPair) { return "CKM_RSA_PKCS_KEY_PAIR_GEN" }
        if try token.has(.rsaAESKeyWrap, for: .unwrap) { return nil }
        if try !token.has(.rsaOAEP, for: .unwrap) { return "CKM_RSA_AES_KEY_WRAP or CKM_RSA_PKCS_OAEP for C_UnwrapKey" }
        return try missingPaddedWrap()
    }

    /// For a token that encrypts no block: imports the key as a package for a temporary RSA pair of the token.
    ///
    /// - Returns: nil if the token lists the necessary mechanisms but denies them.
    private func unwrapUnderRSAPair() throws -> NewPrivateKey? {
        let pair = try WrappingKeyPair(.transient, isLasting: false, on: token)
        defer { token.session.discard(pair.handles) }
        tell("The token generated an RSA key pair for this import.")
        let package = try pair.publicHalf.wrap(material, pair.hash(on: token))
        let unwrapping = PackageUnwrapping(
            token: token, package: package, templates: KeyTemplate.privateKey(name), tell: tell)
        do {
            var newKey = try unwrapping.open(with: pair.handles.privateKey)
            newKey.method = .unwrapped
            return newKey
        } catch is PackageUnwrapping.Denial {
            return nil
        }
    }

    // MARK: In the clear

    private func createObject() throws -> NewPrivateKey {
        var scalar = material.pkcs8.withBytes(Self.scalar(of:))
        defer { scalar.withUnsafeMutableBytes { Secret.wipe($0) } }
        guard scalar.count == 32 else { throw KeyError.unfit("The form of the key is not that of a P-256 key.") }
        return try createObject(scalar)
    }

    /// A separate scope: after it, no other reference to the bytes exists, and the caller wipes them in place.
    private func createObject(_ scalar: [UInt8]) throws -> NewPrivateKey {
        let more = [Attribute(.value, bytes: scalar), Attribute(.ecParameters, bytes: NamedCurve.p256)]
        let (object, template) = try KeyTemplate.mostCompleteAccepted(KeyTemplate.privateKey(name)) { template in
            try token.session.createObject(template + more)
        } discard: { object in
            try? token.session.destroy(object)
        }
        return NewPrivateKey(object: object, method: .created, warnings: KeyTemplate.warnings(template))
    }

    /// The scalar follows the version of `ECPrivateKey` (RFC 5915 §3), which is 1, as an OCTET STRING of 32 bytes.
    private static func scalar(of pkcs8: UnsafeRawBufferPointer) -> [UInt8] {
        let mark: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
        let last = pkcs8.count - mark.count - 32
        guard last >= 0,
            let start = (0...last).first(where: { pkcs8[$0..<$0 + mark.count].elementsEqual(mark) })
        else { return [] }
        return Array(pkcs8[(start + mark.count)..<(start + mark.count + 32)])
    }
}

/// The objects that a token already has for a new key.
struct ExistingKeyObjects {
    /// A private key with our label and ID but without a public key: an interrupted import.
    private(set) var leftover: ObjectHandle?
    /// The same, with its public key.
    private(set) var whole: ObjectHandle?
    /// Public keys equal to ours that have no private key.
    private(set) var orphans: [ObjectHandle] = []
    private var hasPublicKey = false
    private let hasLabel: Bool
    private let hasID: Bool

    init(_ name: KeyName, _ publicKey: P256.Signing.PublicKey?, in session: Session) throws(PKCS11Error) {
        let label = Attribute(.label, text: name.label), id = Attribute(.id, bytes: name.id)
        let both = try session.objects(with: [Attribute(.privateKey), label, id])
        hasLabel = try !session.objects(with: [Attribute(.privateKey), label]).isEmpty
        hasID = try !session.objects(with: [Attribute(.privateKey), id]).isEmpty
        if let publicKey {
            for object in try Self.objects(of: publicKey, in: session) {
                let id = try session.value(of: .id, in: object) ?? []
                // Without an ID, the label names its private key, as in `PublicKeySearch`.
                let name =
                    id.isEmpty
                    ? Attribute(.label, bytes: try session.value(of: .label, in: object) ?? [])
                    : Attribute(.id, bytes: id)
                let owners = try session.objects(with: [Attribute(.privateKey), name])
                if owners.isEmpty { orphans.append(object) } else { hasPublicKey = true }
            }
        }
        guard both.count == 1 else { return }
        let hasCompanion = try !session.objects(with: [Attribute(.publicKey), id]).isEmpty
        if hasCompanion { whole = both[0] } else { leftover = both[0] }
    }

    /// - Throws: `unfit` if the token must not get the new key.
    func requireNone(_ name: KeyName, _ token: TokenInfo) throws(KeyError) {
        let cure =
            "Choose another label, or destroy that key first: privyseal keys destroy, or for a wrapping key "
            + "pkcs11-tool --delete-object."
        if hasPublicKey { throw .unfit("The token \(token.name) already has this key. Nothing was changed.") }
        if hasLabel {
            throw .unfit("The token \(token.name) already has a key with the label \"\(name.label)\". \(cure)")
        }
        if hasID { throw .unfit("The token \(token.name) already has a key with this CKA_ID. Choose another id.") }
    }

    /// Call it after the creation of a key, whose label was free before.
    ///
    /// - Throws: `failed` if another command created a key with this label at the same time.
    static func requireOne(_ name: KeyName, _ token: WritableToken) throws {
        let label = Attribute(.label, text: name.label)
        guard try token.session.objects(with: [Attribute(.privateKey), label]).count > 1 else { return }
        throw KeyError.failed(
            "Another command brought a key with the label \"\(name.label)\" into the token \(token.info.name) at the same "
                + "time. Run the same command again.")
    }

    /// Public key objects with this point, in either of the two encodings that tokens use.
    static func objects(
        of publicKey: P256.Signing.PublicKey, in session: Session
    ) throws(PKCS11Error) -> [ObjectHandle] {
        let encoded = Attribute(.ecPoint, bytes: KeyTemplate.encodedPoint(publicKey))
        let raw = Attribute(.ecPoint, bytes: Array(publicKey.x963Representation))
        let found = try session.objects(with: [Attribute(.publicKey), encoded])
        return try found + session.objects(with: [Attribute(.publicKey), raw])
    }
}
