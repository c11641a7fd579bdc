internal import Crypto
internal import PKCS11
internal import SigningKit

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
                let owners = try session.objects(with: [Attribute(.privateKey), Attribute(.id, bytes: id)])
                if owners.isEmpty { orphans.append(object) } else { hasPublicKey = true }
            }
        }
        guard both.count == 1 else { return }
        let hasCompanion = try !session.objects(with: [Attribute(.publicKey), id]).isEmpty
        if hasCompanion { whole = both[0] } else { leftover = both[0] }
    }

    /// - Throws: `unfit` if the token must not get the new key.
    func requireNone(_ name: KeyName, _ token: TokenInfo) throws(KeyError) {
        let cure = "Choose another label, or destroy that key first with privyseal keys destroy."
        if hasPublicKey { throw .unfit("The token \(token.name) already has this key. Nothing was changed.") }
        if hasLabel {
            throw .unfit("The token \(token.name) already has a key with the label \"\(name.label)\". \(cure)")
        }
        if hasID { throw .unfit("The token \(token.name) already has a key with this CKA_ID. Choose another id.") }
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
