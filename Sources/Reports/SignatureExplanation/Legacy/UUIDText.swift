import Encodings

/// The text of a UUID (RFC 9562 §4).
enum UUIDText {
    /// Whether the text has 8, 4, 4, 4 and 12 hexadecimal digits of either case, separated by dashes.
    static func isUUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Hexadecimal.value(byte) != nil
        }
    }
}
