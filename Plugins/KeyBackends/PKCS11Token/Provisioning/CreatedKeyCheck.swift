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

    init(_ key: ObjectHandle, on token: WritableToken) throws(KeyError) {
        let session = token.session
        do throws(PKCS11Error) {
            let type = try session.number(.keyType, of: key)
            note("CKA_KEY_TYPE", type == KeyType.ec.rawValue ? "CKK_EC" : "\(type ?? 0)")
            if type != KeyType.ec.rawValue { faults.append("it is not an EC key") }
            let curve = try session.value(of: .ecParameters, in: key)
            note("CKA_EC_PARAMS", NamedCurve.name(curve))
            if curve != NamedCurve.p256 { faults.append("it is on \(NamedCurve.name(curve)) and not on P-256") }
            for request in KeyTemplate.requests { try check(request, key, session) }
            for (kind, name) in Self.provenance { note(name, Self.text(try session.flag(kind, of: key))) }
        } catch {
            throw error.whileProvisioning(token.info, "show the attributes of the key")
        }
        let (isGiven, refusal) = try token.attempt("say whether CKA_VALUE can be read") {
            session throws(PKCS11Error) in
            try session.revealsValue(of: key)
        }
        if isGiven { faults.append("CKA_VALUE can be read") }
        if let refusal { note("CKA_VALUE", "refused: \(refusal)") }
    }

    private static let provenance: [(Attribute.Kind, String)] = [
        (.isLocal, "CKA_LOCAL"), (.alwaysSensitive, "CKA_ALWAYS_SENSITIVE"),
        (.neverExtractable, "CKA_NEVER_EXTRACTABLE"),
    ]

    private mutating func note(_ name: String, _ value: String) { attributes.append((name, value)) }

    private mutating func check(
        _ request: KeyTemplate.RequestedAttribute, _ key: ObjectHandle, _ session: Session
    ) throws(PKCS11Error) {
        let value = try session.flag(request.kind, of: key)
        note(request.name, Self.text(value))
        // If the token does not know a right, the key does not have it. A protection must be reported.
        let isUnknownRight = value == nil && !request.value && request.kind != .extractable
        if value == request.value || isUnknownRight { return }
        let sentence = "\(request.name) is \(Self.text(value)) and not \(request.value)"
        if request.isNeeded {
            faults.append(sentence)
        } else {
            warnings.append("The token ignored the template: \(sentence).")
        }
    }

    private static func text(_ flag: Bool?) -> String { flag.map { $0 ? "true" : "false" } ?? "not there" }
}

/// A signature that proves that a private key belongs to a public key.
enum PossessionProof {
    /// - Returns: false if the signature belongs to another key.
    static func holds(
        _ key: ObjectHandle, _ publicKey: P256.Signing.PublicKey, in session: Session
    ) throws(PKCS11Error) -> Bool {
        let digest = ProofOfPossession().digest
        let signer = Signer(session, .ecdsa)
        let copy = digest.withUnsafeBytes { Array($0) }
        let bytes = try copy.withUnsafeBufferPointer { digest throws(PKCS11Error) in
            Array(try signer.sign(UnsafeRawBufferPointer(digest), with: key))
        }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes) else { return false }
        return publicKey.isValidSignature(signature, for: digest)
    }
}
