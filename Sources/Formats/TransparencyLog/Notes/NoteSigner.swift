public import Crypto

/// A named Ed25519 key that signs notes.
public struct NoteSigner: Sendable {
    private static let beginning = "PRIVATE+KEY+"

    public let verifier: NoteVerifier
    let key: Curve25519.Signing.PrivateKey

    private init(name: String, key: Curve25519.Signing.PrivateKey) throws(NoteError) {
        verifier = try NoteVerifier(name: name, ed25519: key.publicKey)
        self.key = key
    }

    public static func generate(name: String) throws(NoteError) -> NoteSigner {
        try NoteSigner(name: name, key: Curve25519.Signing.PrivateKey())
    }

    /// Reads the format of `text`: `PRIVATE+KEY+<name>+<key ID>+<base64(0x01 ‖ seed)>`, as in the Go module
    /// `golang.org/x/mod/sumdb/note`.
    public init(_ text: String) throws(NoteError) {
        guard text.utf8.starts(with: Self.beginning.utf8) else { throw .malformedKey }
        let parsed = try EncodedNoteKey(parsing: text.dropFirst(Self.beginning.count))
        guard parsed.type == NoteVerifier.ed25519Type else { throw .unsupportedKey(type: parsed.type) }
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: parsed.material) else {
            throw .malformedKey
        }
        try self.init(name: parsed.name, key: key)
        guard verifier.keyID == parsed.keyID else { throw .otherKeyID(name: verifier.name) }
    }

    public var name: String { verifier.name }

    /// Secret, because it contains the key.
    public var text: String {
        let text = EncodedNoteKey(
            name: name, keyID: verifier.keyID, type: NoteVerifier.ed25519Type, material: Array(key.rawRepresentation))
        return Self.beginning + text.text
    }

    /// - Parameter text: ends with a newline.
    public func sign(_ text: String) throws(NoteError) -> SignedNote {
        guard let bytes = try? key.signature(for: Array(text.utf8)) else { throw .cannotSign }
        let signature = try NoteSignature(name: name, keyID: verifier.keyID, bytes: Array(bytes))
        return try SignedNote(text: text, signatures: [signature])
    }
}

extension NoteSigner: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "the key of \(name)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension NoteSigner {
    /// Derives a key for another purpose, which reveals nothing about this key (HKDF-SHA-256, RFC 5869).
    ///
    /// - Parameter purpose: the `info` input of HKDF.
    /// - Returns: 256 bits.
    public func derivedKey(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key.rawRepresentation), info: Array(purpose.utf8), outputByteCount: 32)
    }
}
