public import Crypto
import Encodings

/// A named Ed25519 key that signs notes.
public struct NoteSigner: Sendable {
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
        let parsed = try KeyText.parse(secret: text, type: NoteVerifier.ed25519Type)
        try self.init(name: parsed.name, key: parsed.key)
        guard verifier.keyID == parsed.keyID else { throw .otherKeyID(name: verifier.name) }
    }

    public var name: String { verifier.name }

    /// Secret, because it contains the key.
    public var text: String {
        KeyText.text(secret: key, name: name, keyID: verifier.keyID, type: NoteVerifier.ed25519Type)
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

/// A named public key that verifies notes.
public struct NoteVerifier: Sendable {
    private enum Key: Sendable {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case witness(Curve25519.Signing.PublicKey)

        var type: UInt8 {
            switch self {
            case .ed25519: ed25519Type
            case .p256: ecdsaType
            case .witness: cosignatureType
            }
        }

        /// The raw representation; for ECDSA, the SubjectPublicKeyInfo.
        var material: [UInt8] {
            switch self {
            case .ed25519(let key), .witness(let key): Array(key.rawRepresentation)
            case .p256(let key): Array(key.derRepresentation)
            }
        }
    }

    /// C2SP signed-note, "Signature types".
    static let ed25519Type: UInt8 = 0x01
    static let ecdsaType: UInt8 = 0x02
    static let cosignatureType: UInt8 = 0x04

    public let name: String
    public let keyID: UInt32
    private let key: Key

    /// Verifies Ed25519 signatures of the text (RFC 8032).
    public init(name: String, ed25519 key: Curve25519.Signing.PublicKey) throws(NoteError) {
        try self.init(name, .ed25519(key))
    }

    /// Verifies ECDSA signatures, in DER, of the text's SHA-256. The key ID covers only the SubjectPublicKeyInfo.
    public init(name: String, p256 key: P256.Signing.PublicKey) throws(NoteError) {
        try self.init(name, .p256(key))
    }

    /// Verifies the cosignatures of a witness (C2SP tlog-cosignature).
    public init(name: String, witness key: Curve25519.Signing.PublicKey) throws(NoteError) {
        try self.init(name, .witness(key))
    }

    private init(_ name: String, _ key: Key) throws(NoteError) {
        guard KeyName.isFit(name) else { throw .invalidName }
        (self.name, self.key) = (name, key)
        let isECDSA = key.type == Self.ecdsaType
        keyID = KeyName.keyID(hashing: (isECDSA ? [] : Array("\(name)\n".utf8) + [key.type]) + key.material)
    }

    /// Parses a verifier key (C2SP signed-note, "Verifier keys").
    public init(_ text: String) throws(NoteError) {
        let parsed = try KeyText.parse(text)
        switch parsed.type {
        case Self.ed25519Type, Self.cosignatureType:
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: parsed.material) else {
                throw .malformedKey
            }
            if parsed.type == Self.ed25519Type {
                try self.init(name: parsed.name, ed25519: key)
            } else {
                try self.init(name: parsed.name, witness: key)
            }
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
    public var text: String { KeyText.text(name: name, keyID: keyID, type: key.type, material: key.material) }

    /// Whether the key is a witness' key, which signs a time with each checkpoint.
    public var isWitness: Bool { if case .witness = key { true } else { false } }

    /// Whether both have the same public key, perhaps under two names.
    func hasSameKey(as other: NoteVerifier) -> Bool { key.material == other.key.material }

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
        case .witness(let key):
            guard let cosignature = Cosignature(signature) else { return false }
            return key.isValidSignature(cosignature.bytes, for: Cosignature.message(text, at: cosignature.time))
        }
    }
}

extension NoteVerifier: CustomStringConvertible {
    public var description: String { text }
}

/// The common text format of public and secret keys: `<name>+<key ID>+<base64(type ‖ material)>`.
enum KeyText {
    private static let beginningOfSecrets = "PRIVATE+KEY+"

    /// Reads the text of an Ed25519 key that signs.
    static func parse(
        secret text: String, type: UInt8
    ) throws(NoteError) -> (name: String, keyID: UInt32, key: Curve25519.Signing.PrivateKey) {
        guard text.utf8.starts(with: beginningOfSecrets.utf8) else { throw .malformedKey }
        let parsed = try parse(text.dropFirst(beginningOfSecrets.count))
        guard parsed.type == type else { throw .unsupportedKey(type: parsed.type) }
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: parsed.material) else {
            throw .malformedKey
        }
        return (parsed.name, parsed.keyID, key)
    }

    static func text(secret key: Curve25519.Signing.PrivateKey, name: String, keyID: UInt32, type: UInt8) -> String {
        beginningOfSecrets + text(name: name, keyID: keyID, type: type, material: Array(key.rawRepresentation))
    }

    static func parse(
        _ text: some StringProtocol
    ) throws(NoteError) -> (name: String, keyID: UInt32, type: UInt8, material: [UInt8]) {
        // Base64 may contain a plus, too.
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].count == 8,
            let keyID = UInt32(String(decoding: parts[1], as: UTF8.self), radix: 16),
            KeyName.hexadecimal(keyID).utf8.elementsEqual(parts[1]),
            let bytes = Base64.standard.decode(parts[2]), let type = bytes.first
        else { throw .malformedKey }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard KeyName.isFit(name) else { throw .invalidName }
        return (name, keyID, type, Array(bytes.dropFirst()))
    }

    static func text(name: String, keyID: UInt32, type: UInt8, material: [UInt8]) -> String {
        let material = Base64.standard.text([type] + material)
        return "\(name)+\(KeyName.hexadecimal(keyID))+\(material)"
    }
}

/// Rules for the name and the 32-bit ID of a note's key.
enum KeyName {
    /// A valid name is not empty and has no Unicode white space, control character or plus (C2SP signed-note).
    static func isFit(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar != "+" && scalar.properties.generalCategory != .control && !scalar.properties.isWhitespace
            }
    }

    /// The first four bytes of SHA-256. Except for ECDSA, the input is the name, a newline, the signature type and the
    /// public key.
    static func keyID(hashing bytes: [UInt8]) -> UInt32 {
        SHA256.hash(data: bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Eight digits.
    static func hexadecimal(_ keyID: UInt32) -> String {
        Hexadecimal.encode(withUnsafeBytes(of: keyID.bigEndian) { Array($0) })
    }
}
