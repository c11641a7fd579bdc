public import Crypto

/// A named public key that verifies notes.
public struct NoteVerifier: Sendable {
    private enum Key: Sendable {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    /// C2SP signed-note, "Signature types".
    static let ed25519Type: UInt8 = 0x01
    static let ecdsaType: UInt8 = 0x02

    public let name: String
    public let keyID: UInt32
    private let key: Key

    /// Verifies Ed25519 signatures of the text (RFC 8032).
    public init(name: String, ed25519 key: Curve25519.Signing.PublicKey) throws(NoteError) {
        guard KeyName.isFit(name) else { throw .invalidName }
        self.name = name
        self.key = .ed25519(key)
        keyID = KeyName.keyID(of: name, type: Self.ed25519Type, publicKey: Array(key.rawRepresentation))
    }

    /// Verifies ECDSA signatures, in DER, of the text's SHA-256. The key ID covers only the SubjectPublicKeyInfo.
    public init(name: String, p256 key: P256.Signing.PublicKey) throws(NoteError) {
        guard KeyName.isFit(name) else { throw .invalidName }
        self.name = name
        self.key = .p256(key)
        keyID = KeyName.keyID(hashing: Array(key.derRepresentation))
    }

    /// Parses a verifier key (C2SP signed-note, "Verifier keys").
    public init(_ text: String) throws(NoteError) {
        let parsed = try EncodedNoteKey(parsing: text)
        switch parsed.type {
        case Self.ed25519Type:
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: parsed.material) else {
                throw .malformedKey
            }
            try self.init(name: parsed.name, ed25519: key)
        case Self.ecdsaType:
            guard let key = try? P256.Signing.PublicKey(derRepresentation: parsed.material),
                key.derRepresentation.elementsEqual(parsed.material)
            else { throw .malformedKey }
            try self.init(name: parsed.name, p256: key)
        default: throw .unsupportedKey(type: parsed.type)
        }
        guard keyID == parsed.keyID else { throw .otherKeyID(name: name) }
    }

    /// The verifier key in text form.
    public var text: String {
        switch key {
        case .ed25519(let key):
            EncodedNoteKey(name: name, keyID: keyID, type: Self.ed25519Type, material: Array(key.rawRepresentation))
                .text
        case .p256(let key):
            EncodedNoteKey(name: name, keyID: keyID, type: Self.ecdsaType, material: Array(key.derRepresentation)).text
        }
    }

    /// Whether the signature names this key. It does not verify the signature.
    public func made(_ signature: NoteSignature) -> Bool {
        keyID == signature.keyID && name.utf8.elementsEqual(signature.name.utf8)
    }

    /// - Parameter signature: without the key ID.
    public func verify(_ signature: [UInt8], of text: String) -> Bool {
        let text = Array(text.utf8)
        switch key {
        case .ed25519(let key): return key.isValidSignature(signature, for: text)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: text)
        }
    }
}

extension NoteVerifier: CustomStringConvertible {
    public var description: String { text }
}
