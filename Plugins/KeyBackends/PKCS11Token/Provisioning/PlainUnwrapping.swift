internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// A key from a file goes in under an AES key that is made in the token, never leaves it, and ends with the import.
///
/// Tokens wrap objects only (`C_WrapKey`), and hardly any takes RFC 5649 for `C_Encrypt`. So the wrapping is computed here,
/// over single blocks that the token encrypts (`CKM_AES_ECB`): docs/adr/0034.
enum PlainUnwrapping {
    /// What the token lacks for it, or nil.
    static func missing(on bench: TokenBench) throws(KeyError) -> String? {
        if try !bench.has(.aesKeyGeneration, for: .generate) { return "CKM_AES_KEY_GEN" }
        if try !bench.has(.aesECB, for: .encrypt) { return "CKM_AES_ECB for C_Encrypt" }
        return try bench.paddedWraps().isEmpty ? "CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD for C_UnwrapKey" : nil
    }

    /// - Returns: nil when the token lists what it needs for this, and denies it.
    static func run(
        _ material: KeyMaterial, _ name: KeyName, on bench: TokenBench, _ tell: (String) -> Void
    ) throws(KeyError) -> ArrivedKey? {
        let aes = try bench.attempt("make an AES key") { session throws(PKCS11Error) in
            try KeyTemplate.firstAccepted(KeyTemplate.transportKey(isGenerated: true)) {
                template throws(PKCS11Error) in
                try session.generateKey(.aesKeyGeneration, template)
            }.made
        }
        // A session's object: it would go with the session, too.
        defer { try? bench.session.destroy(aes) }
        tell("An AES-256 key was made in the token for this import.")
        let wrapped = try bench.attempt("encrypt under that AES key") { session throws(PKCS11Error) in
            try material.pkcs8.withBytes { plain throws(PKCS11Error) in
                try PaddedKeyWrap.wrap(plain) { block throws(PKCS11Error) in
                    try session.encrypt(block, with: aes, .aesECB)
                }
            }
        }
        guard let wrapped else { throw .unfit("The key has a size that no P-256 key has.") }
        let mechanisms = try bench.paddedWraps()
        let unwrapped = try bench.attempt("unwrap the key") { _ throws(PKCS11Error) in
            try bench.unwrap(wrapped, with: aes, by: mechanisms, KeyTemplate.privateKey(name))
        }
        guard let unwrapped else { return nil }
        tell("The key went in by C_UnwrapKey under it.")
        return ArrivedKey(object: unwrapped.object, method: .unwrapped, warnings: unwrapped.warnings)
    }
}

/// For a token that encrypts no block: a key from a file goes in as a package for an RSA pair that the token makes for this
/// import and that ends with it.
enum PairUnwrapping {
    /// What the token lacks for it, or nil.
    static func missing(on bench: TokenBench) throws(KeyError) -> String? {
        if try !bench.has(.rsaKeyPairGeneration, for: .generateKeyPair) { return "CKM_RSA_PKCS_KEY_PAIR_GEN" }
        if try bench.has(.rsaAESKeyWrap, for: .unwrap) { return nil }
        if try !bench.has(.rsaOAEP, for: .unwrap) {
            return "CKM_RSA_AES_KEY_WRAP or CKM_RSA_PKCS_OAEP for C_UnwrapKey"
        }
        return try bench.paddedWraps().isEmpty ? "CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD for C_UnwrapKey" : nil
    }

    /// - Returns: nil when the token lists what it needs for this, and denies it.
    static func run(
        _ material: KeyMaterial, _ name: KeyName, on bench: TokenBench, _ tell: @escaping (String) -> Void
    ) throws(KeyError) -> ArrivedKey? {
        let pair = try WrappingPair.generate(.transient, isLasting: false, on: bench)
        defer { pair.destroy(on: bench) }
        tell("An RSA pair was made in the token for this import.")
        let package: WrappedKey
        do throws(KeyTransportError) { package = try pair.publicHalf.wrap(material, pair.hash(on: bench)) } catch {
            throw .unfit("\(error)")
        }
        let opening = PackageOpening(
            bench: bench, package: package, templates: KeyTemplate.privateKey(name), tell: tell)
        guard case .arrived(let arrived) = try opening.open(with: pair.privateKey) else { return nil }
        return ArrivedKey(object: arrived.object, method: .unwrapped, warnings: arrived.warnings)
    }
}

/// Only where it was allowed: `C_CreateObject` with the scalar in the clear.
enum PlainCreation {
    static func run(_ material: KeyMaterial, _ name: KeyName, on bench: TokenBench) throws(KeyError) -> ArrivedKey {
        var scalar = material.pkcs8.withBytes(scalar(of:))
        defer { scalar.withUnsafeMutableBytes { Secret.wipe($0) } }
        guard scalar.count == 32 else { throw .unfit("The key has a form that no P-256 key has.") }
        return try create(scalar, name, on: bench)
    }

    /// In a scope of its own: when it ends, nobody else holds the bytes, and they are wiped in place.
    private static func create(_ scalar: [UInt8], _ name: KeyName, on bench: TokenBench) throws(KeyError)
        -> ArrivedKey
    {
        let more = [Attribute(.value, bytes: scalar), Attribute(.ecParameters, bytes: NamedCurve.p256)]
        let (object, template) = try bench.attempt("store the key") { session throws(PKCS11Error) in
            try KeyTemplate.ladder(KeyTemplate.privateKey(name)) { template throws(PKCS11Error) in
                try session.createObject(template + more)
            } discard: { object in
                try? session.destroy(object)
            }
        }
        return ArrivedKey(object: object, method: .created, warnings: KeyTemplate.warnings(template))
    }

    /// Behind the version of `ECPrivateKey` (RFC 5915 §3), which is 1, an OCTET STRING of 32 bytes.
    private static func scalar(of pkcs8: UnsafeRawBufferPointer) -> [UInt8] {
        let mark: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
        let last = pkcs8.count - mark.count - 32
        guard last >= 0,
            let start = (0...last).first(where: { pkcs8[$0..<$0 + mark.count].elementsEqual(mark) })
        else { return [] }
        return Array(pkcs8[(start + mark.count)..<(start + mark.count + 32)])
    }
}
