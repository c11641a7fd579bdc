import Crypto
import KeyTransport
import PKCS11
import SigningKit

/// An RSA pair under which a token imports keys from elsewhere.
struct WrappingKeyPair {
    let handles: (publicKey: ObjectHandle, privateKey: ObjectHandle)
    let publicHalf: WrappingKey

    private static let bits: UInt = 3072

    static func make(_ name: KeyName, on token: WritableToken) throws -> GeneratedWrappingKey {
        try ExistingKeyObjects(name, nil, in: token.session).requireNone(name, token.info)
        let pair = try WrappingKeyPair(name, isLasting: true, on: token)
        return GeneratedWrappingKey(der: pair.publicHalf.der, hash: pair.hash(on: token))
    }

    /// - Parameter isLasting: whether the pair stays in the token; otherwise it ends with the session.
    init(_ name: KeyName, isLasting: Bool, on token: WritableToken) throws {
        let session = token.session
        let pair = try KeyTemplate.firstAccepted(Self.privateTemplates(name, isLasting)) { template in
            try session.generateKeyPair(
                .rsaKeyPairGeneration, publicKey: Self.publicTemplate(name, isLasting), privateKey: template)
        }.made
        do {
            let subject = "The token \(token.info.name) generated a wrapping key"
            for (kind, wanted) in [(Attribute.Kind.sensitive, true), (.extractable, false), (.unwrap, true)] {
                let found = try session.flag(kind, of: pair.privateKey)
                guard found == wanted else {
                    let seen = found.map { "\($0)" } ?? "missing"
                    throw KeyError.unfit("\(subject), but its \(kind.name) is \(seen) instead of \(wanted).")
                }
            }
            guard let publicHalf = try Self.publicKey(pair.publicKey, in: session) else {
                throw KeyError.unfit("\(subject), but returned no usable CKA_MODULUS and CKA_PUBLIC_EXPONENT.")
            }
            (handles, self.publicHalf) = (pair, publicHalf)
        } catch {
            session.discard(pair)
            throw error
        }
    }

    /// The strongest hash that the token supports. Mechanism lists do not tell it, so this unwraps a temporary key.
    func hash(on token: WritableToken) -> WrappingHash {
        let trial = P256.Signing.PrivateKey()
        let material = KeyMaterial(
            pkcs8: Array(trial.derRepresentation).withUnsafeBytes { Secret($0) }, publicKey: trial.publicKey)
        do {
            let unwrapping = PackageUnwrapping(
                token: token, package: try publicHalf.wrap(material, .sha256),
                templates: KeyTemplate.privateKey(.transient).map(KeyTemplate.trial), tell: { _ in })
            // In two steps, only the AES key: some tokens unwrap no EC key, whatever the hash is.
            let object =
                try token.has(.rsaAESKeyWrap, for: .unwrap)
                ? unwrapping.open(with: handles.privateKey).object
                : unwrapping.unwrapAESKey(with: handles.privateKey)
            try? token.session.destroy(object)
            return .sha256
        } catch {
            return .sha1
        }
    }

    static func privateKey(
        of fingerprint: PublicKeyFingerprint, in session: Session
    ) throws(PKCS11Error) -> ObjectHandle? {
        for object in try session.objects(with: [Attribute(.publicKey), Attribute(KeyType.rsa)]) {
            guard try publicKey(object, in: session)?.fingerprint == fingerprint,
                let id = try session.value(of: .id, in: object), !id.isEmpty
            else { continue }
            let owners = try session.objects(with: [
                Attribute(.privateKey), Attribute(KeyType.rsa), Attribute(.id, bytes: id), Attribute(.unwrap, true),
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
        [Attribute(.isToken, isLasting)] + Attribute.flags(true: [.wrap], false: [.isPrivate, .encrypt, .verify])
            + [Attribute(.modulusBits, number: bits), Attribute(.publicExponent, bytes: [0x01, 0x00, 0x01])]
            + name.attributes
    }

    /// The most complete template first.
    private static func privateTemplates(_ name: KeyName, _ isLasting: Bool) -> [[Attribute]] {
        let base =
            [Attribute(.isToken, isLasting)]
            + Attribute.flags(true: [.isPrivate, .sensitive, .unwrap], false: [.extractable, .decrypt, .sign])
            + name.attributes
        return [base + Attribute.flags(false: [.signRecover, .derive]), base]
    }
}
