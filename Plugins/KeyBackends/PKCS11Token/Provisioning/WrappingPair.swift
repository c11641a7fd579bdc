internal import KeyTransport
internal import PKCS11
internal import SigningKit

/// An RSA pair under which keys come in from elsewhere.
enum WrappingPair {
    private static let bits: UInt = 3072

    /// - Returns: the public key's SubjectPublicKeyInfo.
    static func make(_ name: KeyName, on bench: TokenBench) throws(KeyError) -> [UInt8] {
        if let refusal = try KeyPresence(name, nil, on: bench).refusal(name, bench.info) { throw .unfit(refusal) }
        let pair = try bench.attempt("make an RSA pair") { session throws(PKCS11Error) in
            try session.generateKeyPair(
                .rsaKeyPairGeneration, publicKey: publicTemplate(name), privateKey: privateTemplate(name))
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
            return key.der
        } catch {
            try? bench.session.destroy(pair.privateKey)
            try? bench.session.destroy(pair.publicKey)
            throw error
        }
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

    private static func publicTemplate(_ name: KeyName) -> [Attribute] {
        [
            Attribute(.isToken, true), Attribute(.isPrivate, false), Attribute(.modulusBits, number: bits),
            Attribute(.publicExponent, bytes: [0x01, 0x00, 0x01]), Attribute(.wrap, true), Attribute(.encrypt, false),
            Attribute(.verify, false),
        ] + name.attributes
    }

    private static func privateTemplate(_ name: KeyName) -> [Attribute] {
        [
            Attribute(.isToken, true), Attribute(.isPrivate, true), Attribute(.sensitive, true),
            Attribute(.extractable, false), Attribute(.unwrap, true), Attribute(.decrypt, false),
            Attribute(.sign, false), Attribute(.signRecover, false), Attribute(.derive, false),
        ] + name.attributes
    }
}
