import Crypto

/// A witness' named Ed25519 key, which cosigns checkpoints (C2SP tlog-cosignature).
public struct WitnessKey: Sendable {
    public let verifier: NoteVerifier
    private let key: Curve25519.Signing.PrivateKey

    private init(name: String, key: Curve25519.Signing.PrivateKey) throws(NoteError) {
        verifier = try NoteVerifier(name: name, witness: key.publicKey)
        self.key = key
    }

    public static func generate(name: String) throws(NoteError) -> WitnessKey {
        try WitnessKey(name: name, key: Curve25519.Signing.PrivateKey())
    }

    /// Reads the format of `text`: `PRIVATE+KEY+<name>+<key ID>+<base64(0x04 ‖ seed)>`.
    public init(_ text: String) throws(NoteError) {
        let parsed = try KeyText.parse(secret: text, type: NoteVerifier.cosignatureType)
        try self.init(name: parsed.name, key: parsed.key)
        guard verifier.keyID == parsed.keyID else { throw .otherKeyID(name: verifier.name) }
    }

    public var name: String { verifier.name }

    /// Secret, because it contains the key.
    public var text: String {
        KeyText.text(secret: key, name: name, keyID: verifier.keyID, type: NoteVerifier.cosignatureType)
    }

    /// - Parameters:
    ///   - text: the text of a checkpoint, which ends with a newline.
    ///   - time: seconds since 1970, at least 1.
    public func cosign(_ text: String, at time: UInt64) throws(NoteError) -> NoteSignature {
        let message = Cosignature.message(Array(text.utf8), at: time)
        guard let signature = try? key.signature(for: message) else { throw .cannotSign }
        let bytes = withUnsafeBytes(of: time.bigEndian) { Array($0) } + signature
        return try NoteSignature(name: name, keyID: verifier.keyID, bytes: bytes)
    }
}

extension WitnessKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "the key of \(name)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The content of a witness' signature: eight bytes of time, big-endian, and 64 of Ed25519 (C2SP tlog-cosignature).
public struct Cosignature: Hashable, Sendable {
    /// Seconds since 1970, from 1 to 2^63 - 1.
    public let time: UInt64
    let bytes: [UInt8]

    /// - Parameter signature: without the key ID.
    /// - Returns: nil for another length or an impossible time.
    public init?(_ signature: [UInt8]) {
        guard signature.count == 72 else { return nil }
        time = signature.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        bytes = Array(signature.dropFirst(8))
        guard (1...UInt64(Int64.max)).contains(time) else { return nil }
    }

    static func message(_ text: [UInt8], at time: UInt64) -> [UInt8] {
        Array("cosignature/v1\ntime \(time)\n".utf8) + text
    }
}
