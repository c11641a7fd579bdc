internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// Imports a key from a file under an AES key that the token generates, never reveals, and destroys after the import.
///
/// Tokens wrap only objects (`C_WrapKey`), and few support RFC 5649 in `C_Encrypt`. So this code computes the wrapping,
/// over single blocks that the token encrypts (`CKM_AES_ECB`): docs/adr/0034.
enum AESKeyUnwrapping {
    /// The mechanism that the token lacks for this, or nil.
    static func missing(on session: TokenWorkSession) throws(KeyError) -> String? {
        if try !session.has(.aesKeyGeneration, for: .generate) { return "CKM_AES_KEY_GEN" }
        if try !session.has(.aesECB, for: .encrypt) { return "CKM_AES_ECB for C_Encrypt" }
        return try session.paddedWraps().isEmpty ? "CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD for C_UnwrapKey" : nil
    }

    /// - Returns: nil if the token lists the necessary mechanisms but denies them.
    static func run(
        _ material: KeyMaterial, _ name: KeyName, on session: TokenWorkSession, _ tell: (String) -> Void
    ) throws(KeyError) -> NewPrivateKey? {
        let aes = try session.attempt("make an AES key") { session throws(PKCS11Error) in
            try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: true)) {
                template throws(PKCS11Error) in
                try session.generateKey(.aesKeyGeneration, template)
            }.made
        }
        // A session object: it would also end with the session.
        defer { try? session.session.destroy(aes) }
        tell("The token generated an AES-256 key for this import.")
        let wrapped = try session.attempt("encrypt under that AES key") { session throws(PKCS11Error) in
            try material.pkcs8.withBytes { plain throws(PKCS11Error) in
                try PaddedKeyWrap.wrap(plain) { block throws(PKCS11Error) in
                    try session.encrypt(block, with: aes, .aesECB)
                }
            }
        }
        guard let wrapped else { throw .unfit("The size of the key is not that of a P-256 key.") }
        let mechanisms = try session.paddedWraps()
        let unwrapped = try session.attempt("unwrap the key") { _ throws(PKCS11Error) in
            try session.unwrap(wrapped, with: aes, by: mechanisms, KeyTemplate.privateKey(name))
        }
        guard let unwrapped else { return nil }
        tell("The token unwrapped the key with it (C_UnwrapKey).")
        return NewPrivateKey(object: unwrapped.object, method: .unwrapped, warnings: unwrapped.warnings)
    }
}

/// For a token that encrypts no block: imports a key from a file as a package for a temporary RSA pair of the token.
enum RSAPairUnwrapping {
    static func missing(on session: TokenWorkSession) throws(KeyError) -> String? {
        if try !session.has(.rsaKeyPairGeneration, for: .generateKeyPair) { return "CKM_RSA_PKCS_KEY_PAIR_GEN" }
        if try session.has(.rsaAESKeyWrap, for: .unwrap) { return nil }
        if try !session.has(.rsaOAEP, for: .unwrap) {
            return "CKM_RSA_AES_KEY_WRAP or CKM_RSA_PKCS_OAEP for C_UnwrapKey"
        }
        return try session.paddedWraps().isEmpty ? "CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD for C_UnwrapKey" : nil
    }

    /// - Returns: nil if the token lists the necessary mechanisms but denies them.
    static func run(
        _ material: KeyMaterial, _ name: KeyName, on session: TokenWorkSession, _ tell: @escaping (String) -> Void
    ) throws(KeyError) -> NewPrivateKey? {
        let pair = try WrappingKeyPair.generate(.transient, isLasting: false, on: session)
        defer { pair.destroy(on: session) }
        tell("The token generated an RSA key pair for this import.")
        let package: WrappedKey
        do throws(KeyTransportError) { package = try pair.publicHalf.wrap(material, pair.hash(on: session)) } catch {
            throw .unfit("\(error)")
        }
        let unwrapping = PackageUnwrapping(
            session: session, package: package, templates: KeyTemplate.privateKey(name), tell: tell)
        guard case .unwrapped(let newKey) = try unwrapping.open(with: pair.privateKey) else { return nil }
        return NewPrivateKey(object: newKey.object, method: .unwrapped, warnings: newKey.warnings)
    }
}

/// `C_CreateObject` with the scalar in the clear, only if the operator allows it.
enum ClearObjectCreation {
    static func run(_ material: KeyMaterial, _ name: KeyName, on session: TokenWorkSession) throws(KeyError)
        -> NewPrivateKey
    {
        var scalar = material.pkcs8.withBytes(scalar(of:))
        defer { scalar.withUnsafeMutableBytes { Secret.wipe($0) } }
        guard scalar.count == 32 else { throw .unfit("The form of the key is not that of a P-256 key.") }
        return try create(scalar, name, on: session)
    }

    /// A separate scope: after it, no other reference to the bytes exists, and the caller wipes them in place.
    private static func create(_ scalar: [UInt8], _ name: KeyName, on session: TokenWorkSession) throws(KeyError)
        -> NewPrivateKey
    {
        let more = [Attribute(.value, bytes: scalar), Attribute(.ecParameters, bytes: NamedCurve.p256)]
        let (object, template) = try session.attempt("store the key") { session throws(PKCS11Error) in
            try KeyTemplate.mostCompleteAccepted(KeyTemplate.privateKey(name)) { template throws(PKCS11Error) in
                try session.createObject(template + more)
            } discard: { object in
                try? session.destroy(object)
            }
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
