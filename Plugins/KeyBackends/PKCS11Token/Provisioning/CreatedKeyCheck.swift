internal import Crypto
internal import PKCS11
internal import SigningKit

/// Checks the attributes of a new key against `KeyTemplate`.
struct CreatedKeyCheck {
    /// By the standard's names.
    var attributes: [(name: String, value: String)] = []
    /// Attributes that differ from a necessary value.
    var faults: [String] = []
    var warnings: [String] = []

    init(_ key: ObjectHandle, in session: Session) throws(PKCS11Error) {
        let type = try session.number(.keyType, of: key)
        attributes.append(("CKA_KEY_TYPE", type == KeyType.ec.rawValue ? "CKK_EC" : "\(type ?? 0)"))
        if type != KeyType.ec.rawValue { faults.append("it is not an EC key") }
        let curve = NamedCurve.name(try session.value(of: .ecParameters, in: key))
        attributes.append(("CKA_EC_PARAMS", curve))
        if curve != "P-256" { faults.append("it is on \(curve) and not on P-256") }
        for wanted in KeyTemplate.needed + KeyTemplate.desired {
            let (name, value) = (wanted.kind.name, try session.flag(wanted.kind, of: key))
            attributes.append((name, Self.text(value)))
            // If the token does not know a right, the key does not have it. A protection must be reported.
            let isUnknownRight = value == nil && !wanted.isTrue && wanted.kind != .extractable
            if value == wanted.isTrue || isUnknownRight { continue }
            let sentence = "\(name) is \(Self.text(value)) and not \(wanted.isTrue)"
            if KeyTemplate.needed.contains(wanted) {
                faults.append(sentence)
            } else {
                warnings.append("The token ignored the template: \(sentence).")
            }
        }
        for kind in KeyTemplate.origin { attributes.append((kind.name, Self.text(try session.flag(kind, of: key)))) }
        let (isGiven, refusal) = try session.revealsValue(of: key)
        if isGiven { faults.append("CKA_VALUE can be read") }
        if let refusal { attributes.append(("CKA_VALUE", "refused: \(refusal)")) }
    }

    private static func text(_ flag: Bool?) -> String { flag.map { $0 ? "true" : "false" } ?? "not there" }
}

/// A signature that proves that a private key belongs to a public key.
enum PossessionProof {
    /// - Returns: false if the signature belongs to another key.
    static func holds(_ key: ObjectHandle, _ publicKey: P256.Signing.PublicKey, in session: Session) throws -> Bool {
        let digest = ProofOfPossession().digest
        let signer = Signer(session, .ecdsa)
        let bytes = try digest.withUnsafeBytes { Array(try signer.sign($0, with: key)) }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes) else { return false }
        return publicKey.isValidSignature(signature, for: digest)
    }
}
