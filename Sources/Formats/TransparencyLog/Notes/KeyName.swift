import Crypto

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
