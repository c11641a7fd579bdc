import Encodings

public struct NoteSignature: Hashable, Sendable {
    /// The name of the key.
    public let name: String
    public let keyID: UInt32
    /// For Ed25519 64 bytes, for ECDSA DER.
    public let bytes: [UInt8]

    public init(name: String, keyID: UInt32, bytes: [UInt8]) throws(NoteError) {
        guard KeyName.isFit(name) else { throw .invalidName }
        self.name = name
        self.keyID = keyID
        self.bytes = bytes
    }

    /// An em dash and a space.
    private static let beginning: [UInt8] = Array("\u{2014} ".utf8)

    /// Nil unless the line, without its newline, has the right format (C2SP signed-note, "Signatures").
    init?(line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.beginning) else { return nil }
        let parts = line.dropFirst(Self.beginning.count)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = String(validating: parts[0], as: UTF8.self), KeyName.isFit(name),
            let bytes = Base64.standard.decode(parts[1]), bytes.count > 4
        else { return nil }
        self.name = name
        keyID = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        self.bytes = Array(bytes.dropFirst(4))
    }

    /// The line with its newline.
    var line: String {
        let keyID = withUnsafeBytes(of: keyID.bigEndian) { Array($0) }
        return "\u{2014} \(name) \(String(decoding: Base64.standard.encode(keyID + bytes), as: UTF8.self))\n"
    }
}
