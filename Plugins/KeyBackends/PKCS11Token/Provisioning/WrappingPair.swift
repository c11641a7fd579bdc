internal import Crypto
internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// An RSA pair under which keys come in from elsewhere.
struct WrappingPair {
    let privateKey: ObjectHandle
    let publicHalf: WrappingKey
    private let publicKey: ObjectHandle

    private static let bits: UInt = 3072

    static func make(_ name: KeyName, on bench: TokenBench) throws(KeyError) -> MadeWrappingKey {
        if let refusal = try KeyPresence(name, nil, on: bench).refusal(name, bench.info) { throw .unfit(refusal) }
        let pair = try generate(name, isLasting: true, on: bench)
        return MadeWrappingKey(der: pair.publicHalf.der, hash: pair.hash(on: bench))
    }

    /// - Parameter isLasting: whether it stays in the token; else it ends with the session.
    static func generate(_ name: KeyName, isLasting: Bool, on bench: TokenBench) throws(KeyError) -> WrappingPair {
        let pair = try bench.attempt("make an RSA pair") { session throws(PKCS11Error) in
            try KeyTemplate.firstAccepted(privateTemplates(name, isLasting)) { template throws(PKCS11Error) in
                try session.generateKeyPair(
                    .rsaKeyPairGeneration, publicKey: publicTemplate(name, isLasting), privateKey: template)
            }.made
        }
        do throws(KeyError) {
            let isFit = try bench.attempt("show the wrapping key") { session throws(PKCS11Error) in
                let isSensitive = try session.flag(.sensitive, of: pair.privateKey)
                let isExtractable = try session.flag(.extractable, of: pair.privateKey)
                let unwraps = try session.flag(.unwrap, of: pair.privateKey)
                return isSensitive == true && isExtractable == false && unwraps == true
            }
            let key = try bench.attempt("show the wrapping key") { session throws(PKCS11Error) in
                try publicKey(pair.publicKey, in: session)
            }
            guard isFit, let key else {
                throw .unfit("The token \(bench.info.name) made a wrapping key that it does not protect.")
            }
            return WrappingPair(privateKey: pair.privateKey, publicHalf: key, publicKey: pair.publicKey)
        } catch {
            try? bench.session.destroy(pair.privateKey)
            try? bench.session.destroy(pair.publicKey)
            throw error
        }
    }

    /// The better hash that the token takes. A mechanism's list does not tell, so a throw-away key is unwrapped.
    func hash(on bench: TokenBench) -> WrappingHash {
        let trial = P256.Signing.PrivateKey()
        let material = KeyMaterial(
            pkcs8: Array(trial.derRepresentation).withUnsafeBytes { Secret($0) }, publicKey: trial.publicKey)
        guard let package = try? publicHalf.wrap(material, .sha256) else { return .sha1 }
        let opening = PackageOpening(
            bench: bench, package: package, templates: KeyTemplate.privateKey(.transient).map(KeyTemplate.trial),
            tell: { _ in })
        do throws(KeyError) {
            let object: ObjectHandle
            if try bench.has(.rsaAESKeyWrap, for: .unwrap) {
                guard case .arrived(let key) = try opening.open(with: privateKey) else { return .sha1 }
                object = key.object
            } else {
                guard case .unwrapped(let key) = try opening.unwrapAESKey(with: privateKey) else { return .sha1 }
                object = key
            }
            try? bench.session.destroy(object)
            return .sha256
        } catch {
            return .sha1
        }
    }

    func destroy(on bench: TokenBench) {
        try? bench.session.destroy(privateKey)
        try? bench.session.destroy(publicKey)
    }

    /// The private key whose public half has this fingerprint.
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

    /// The fullest first.
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
