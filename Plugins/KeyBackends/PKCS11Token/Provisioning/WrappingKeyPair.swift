internal import Crypto
internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// An RSA pair under which a token imports keys from elsewhere.
struct WrappingKeyPair {
    let privateKey: ObjectHandle
    let publicHalf: WrappingKey
    private let publicKey: ObjectHandle

    private static let bits: UInt = 3072

    static func make(_ name: KeyName, on token: WritableToken) throws(KeyError) -> GeneratedWrappingKey {
        if let refusal = try ExistingKeyObjects(name, nil, on: token).refusal(name, token.info) {
            throw .unfit(refusal)
        }
        let pair = try generate(name, isLasting: true, on: token)
        return GeneratedWrappingKey(der: pair.publicHalf.der, hash: pair.hash(on: token))
    }

    /// - Parameter isLasting: whether the pair stays in the token; otherwise it ends with the session.
    static func generate(_ name: KeyName, isLasting: Bool, on token: WritableToken) throws(KeyError)
        -> WrappingKeyPair
    {
        let pair = try token.attempt("make an RSA pair") { session throws(PKCS11Error) in
            try KeyTemplate.firstAccepted(privateTemplates(name, isLasting)) { template throws(PKCS11Error) in
                try session.generateKeyPair(
                    .rsaKeyPairGeneration, publicKey: publicTemplate(name, isLasting), privateKey: template)
            }.made
        }
        do throws(KeyError) {
            let isFit = try token.attempt("show the wrapping key") { session throws(PKCS11Error) in
                let isSensitive = try session.flag(.sensitive, of: pair.privateKey)
                let isExtractable = try session.flag(.extractable, of: pair.privateKey)
                let unwraps = try session.flag(.unwrap, of: pair.privateKey)
                return isSensitive == true && isExtractable == false && unwraps == true
            }
            let key = try token.attempt("show the wrapping key") { session throws(PKCS11Error) in
                try publicKey(pair.publicKey, in: session)
            }
            guard isFit, let key else {
                throw .unfit("The token \(token.info.name) generated a wrapping key without protecting it.")
            }
            return WrappingKeyPair(privateKey: pair.privateKey, publicHalf: key, publicKey: pair.publicKey)
        } catch {
            try? token.session.destroy(pair.privateKey)
            try? token.session.destroy(pair.publicKey)
            throw error
        }
    }

    /// The strongest hash that the token supports. Mechanism lists do not tell it, so this unwraps a temporary key.
    func hash(on token: WritableToken) -> WrappingHash {
        let trial = P256.Signing.PrivateKey()
        let material = KeyMaterial(
            pkcs8: Array(trial.derRepresentation).withUnsafeBytes { Secret($0) }, publicKey: trial.publicKey)
        guard let package = try? publicHalf.wrap(material, .sha256) else { return .sha1 }
        let unwrapping = PackageUnwrapping(
            token: token, package: package, templates: KeyTemplate.privateKey(.transient).map(KeyTemplate.trial),
            tell: { _ in })
        do throws(KeyError) {
            let object: ObjectHandle
            if try token.has(.rsaAESKeyWrap, for: .unwrap) {
                guard case .unwrapped(let newKey) = try unwrapping.open(with: privateKey) else { return .sha1 }
                object = newKey.object
            } else {
                // Only the AES key: some tokens unwrap no EC key, whatever the hash is.
                guard case .unwrapped(let aes) = try unwrapping.unwrapAESKey(with: privateKey) else { return .sha1 }
                object = aes
            }
            try? token.session.destroy(object)
            return .sha256
        } catch {
            return .sha1
        }
    }

    func destroy(on token: WritableToken) {
        try? token.session.destroy(privateKey)
        try? token.session.destroy(publicKey)
    }

    static func privateKey(
        of fingerprint: PublicKeyFingerprint, in session: Session
    ) throws(PKCS11Error) -> ObjectHandle? {
        let rsa = Attribute(.keyType, number: KeyType.rsa.rawValue)
        for object in try session.objects(with: [Attribute(.publicKey), rsa]) {
            guard try publicKey(object, in: session)?.fingerprint == fingerprint,
                let id = try session.value(of: .id, in: object), !id.isEmpty
            else { continue }
            let owners = try session.objects(with: [
                Attribute(.privateKey), rsa, Attribute(.id, bytes: id), Attribute(.unwrap, true),
            ])
            if let owner = owners.first { return owner }
        }
        return nil
    }

    private static func publicKey(_ object: ObjectHandle, in session: Session) throws(PKCS11Error) -> WrappingKey? {
        guard let modulus = try session.value(of: .modulus, in: object),
            let exponent = try session.value(of: .publicExponent, in: object)
        else { return nil }
        return try? WrappingKey(modulus: modulus, exponent: exponent)
    }

    private static func publicTemplate(_ name: KeyName, _ isLasting: Bool) -> [Attribute] {
        [
            Attribute(.isToken, isLasting), Attribute(.isPrivate, false), Attribute(.modulusBits, number: bits),
            Attribute(.publicExponent, bytes: [0x01, 0x00, 0x01]), Attribute(.wrap, true), Attribute(.encrypt, false),
            Attribute(.verify, false),
        ] + name.attributes
    }

    /// The most complete template first.
    private static func privateTemplates(_ name: KeyName, _ isLasting: Bool) -> [[Attribute]] {
        let base =
            [
                Attribute(.isToken, isLasting), Attribute(.isPrivate, true), Attribute(.sensitive, true),
                Attribute(.extractable, false), Attribute(.unwrap, true), Attribute(.decrypt, false),
                Attribute(.sign, false),
            ] + name.attributes
        return [base + [Attribute(.signRecover, false), Attribute(.derive, false)], base]
    }
}
