internal import Crypto
internal import PKCS11
internal import SigningKit

/// What a token made of what it was asked for.
struct KeyReadback {
    /// By the standard's names.
    var attributes: [(name: String, value: String)] = []
    /// What is otherwise than it must be.
    var faults: [String] = []
    var warnings: [String] = []

    init(_ key: ObjectHandle, on bench: TokenBench) throws(KeyError) {
        let session = bench.session
        do throws(PKCS11Error) {
            let type = try session.number(.keyType, of: key)
            note("CKA_KEY_TYPE", type == KeyType.ec.rawValue ? "CKK_EC" : "\(type ?? 0)")
            if type != KeyType.ec.rawValue { faults.append("it is not an EC key") }
            let curve = try session.value(of: .ecParameters, in: key)
            note("CKA_EC_PARAMS", NamedCurve.name(curve))
            if curve != NamedCurve.p256 { faults.append("it is on \(NamedCurve.name(curve)) and not on P-256") }
            for wish in KeyTemplate.wishes { try check(wish, key, session) }
            for (kind, name) in Self.provenance { note(name, Self.text(try session.flag(kind, of: key))) }
        } catch {
            throw error.whileProvisioning(bench.info, "show the attributes of the key")
        }
        try probe(key, bench)
    }

    private static let provenance: [(Attribute.Kind, String)] = [
        (.isLocal, "CKA_LOCAL"), (.alwaysSensitive, "CKA_ALWAYS_SENSITIVE"),
        (.neverExtractable, "CKA_NEVER_EXTRACTABLE"),
    ]

    private mutating func note(_ name: String, _ value: String) { attributes.append((name, value)) }

    private mutating func check(
        _ wish: KeyTemplate.Wish, _ key: ObjectHandle, _ session: Session
    ) throws(PKCS11Error) {
        let value = try session.flag(wish.kind, of: key)
        note(wish.name, Self.text(value))
        // A right that the token does not know is one that the key does not have.
        if value == wish.value || (value == nil && !wish.value) { return }
        let sentence = "\(wish.name) is \(Self.text(value)) and not \(wish.value)"
        if wish.isNeeded { faults.append(sentence) } else { warnings.append("The token did as it likes: \(sentence).") }
    }

    /// What counts in the end is what the token does, not what it says.
    private mutating func probe(_ key: ObjectHandle, _ bench: TokenBench) throws(KeyError) {
        do throws(PKCS11Error) {
            if try bench.session.gives(.value, of: key) { faults.append("CKA_VALUE can be read") }
        } catch {
            let refusals: [ReturnValue] = [.attributeSensitive, .attributeTypeInvalid, .keyUnextractable]
            guard refusals.contains(error.returnValue) else {
                throw error.whileProvisioning(bench.info, "say whether CKA_VALUE can be read")
            }
            note("CKA_VALUE", "refused: \(error.returnValue)")
        }
    }

    private static func text(_ flag: Bool?) -> String { flag.map { $0 ? "true" : "false" } ?? "not there" }
}

/// A signature that shows that a private key belongs to a public one.
enum PossessionProof {
    /// - Returns: false when it signs with another key.
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
