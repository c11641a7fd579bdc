internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// A key from a file goes in under an AES key that is made in the token, never leaves it, and ends with the import.
///
/// Tokens wrap objects only (`C_WrapKey`), and hardly any takes `CKM_AES_KEY_WRAP_PAD` for `C_Encrypt`. So the wrapping of
/// RFC 5649 is computed here, over single blocks that the token encrypts (`CKM_AES_ECB`): docs/adr/0034.
enum PlainUnwrapping {
    /// What the token lacks for it, or nil.
    static func missing(on bench: TokenBench) throws(KeyError) -> String? {
        let needs: [(Mechanism, MechanismUse, String)] = [
            (.aesKeyGeneration, .generate, "CKM_AES_KEY_GEN"), (.aesECB, .encrypt, "CKM_AES_ECB for C_Encrypt"),
            (.aesKeyWrapPadded, .unwrap, "CKM_AES_KEY_WRAP_PAD for C_UnwrapKey"),
        ]
        for (mechanism, use, name) in needs {
            let uses = try bench.attempt("say what it can do") { session throws(PKCS11Error) in
                try session.module.uses(of: mechanism, on: session.slot)
            }
            if !uses.contains(use) { return name }
        }
        return nil
    }

    static func run(
        _ material: KeyMaterial, _ name: KeyName, on bench: TokenBench, _ tell: (String) -> Void
    ) throws(KeyError) -> ObjectHandle {
        let aes = try bench.attempt("make an AES key") { session throws(PKCS11Error) in
            try session.generateKey(.aesKeyGeneration, KeyTemplate.transportKey(isGenerated: true))
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
        let object = try bench.attempt("unwrap the key") { session throws(PKCS11Error) in
            try KeyTemplate.ladder(KeyTemplate.privateKey(name)) { template throws(PKCS11Error) in
                try session.unwrapKey(wrapped, with: aes, .aesKeyWrapPadded, template)
            } discard: { object throws(PKCS11Error) in
                try session.destroy(object)
            }
        }
        tell("The key went in by C_UnwrapKey under it.")
        return object
    }
}

/// The last resort: `C_CreateObject` with the scalar in the clear.
enum PlainCreation {
    static func run(_ material: KeyMaterial, _ name: KeyName, on bench: TokenBench) throws(KeyError) -> ObjectHandle {
        var scalar = material.pkcs8.withBytes(scalar(of:))
        defer { scalar.withUnsafeMutableBytes { Secret.wipe($0) } }
        guard scalar.count == 32 else { throw .unfit("The key has a form that no P-256 key has.") }
        return try create(scalar, name, on: bench)
    }

    /// In a scope of its own: when it ends, nobody else holds the bytes, and they are wiped in place.
    private static func create(_ scalar: [UInt8], _ name: KeyName, on bench: TokenBench) throws(KeyError)
        -> ObjectHandle
    {
        let more = [Attribute(.value, bytes: scalar), Attribute(.ecParameters, bytes: NamedCurve.p256)]
        return try bench.attempt("store the key") { session throws(PKCS11Error) in
            try KeyTemplate.ladder(KeyTemplate.privateKey(name)) { template throws(PKCS11Error) in
                try session.createObject(template + more)
            } discard: { object throws(PKCS11Error) in
                try session.destroy(object)
            }
        }
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
