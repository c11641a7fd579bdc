import Crypto
import Encodings

/// The common text format of public and secret keys: `<name>+<key ID>+<base64(type ‖ material)>`.
struct EncodedNoteKey {
    let name: String
    let keyID: UInt32
    let type: UInt8
    let material: [UInt8]

    init(name: String, keyID: UInt32, type: UInt8, material: [UInt8]) {
        self.name = name
        self.keyID = keyID
        self.type = type
        self.material = material
    }

    init(parsing text: some StringProtocol) throws(NoteError) {
        // Base64 may contain a plus, too.
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].count == 8,
            let keyID = UInt32(String(decoding: parts[1], as: UTF8.self), radix: 16),
            KeyName.hexadecimal(keyID).utf8.elementsEqual(parts[1]),
            let bytes = Base64.standard.decode(parts[2]), let type = bytes.first
        else { throw .malformedKey }
        name = String(decoding: parts[0], as: UTF8.self)
        guard KeyName.isFit(name) else { throw .invalidName }
        self.keyID = keyID
        self.type = type
        material = Array(bytes.dropFirst())
    }

    var text: String {
        let material = String(decoding: Base64.standard.encode([type] + material), as: UTF8.self)
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

    /// The first four bytes of SHA-256 of the name, a newline, the signature type and the public key.
    static func keyID(of name: String, type: UInt8, publicKey: [UInt8]) -> UInt32 {
        keyID(hashing: Array(name.utf8) + [UInt8(ascii: "\n"), type] + publicKey)
    }

    static func keyID(hashing bytes: [UInt8]) -> UInt32 {
        SHA256.hash(data: bytes).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Eight digits.
    static func hexadecimal(_ keyID: UInt32) -> String {
        let digits = String(keyID, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
