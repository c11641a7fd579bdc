/// The text of a UUID (RFC 9562 §4).
public enum UUIDText {
    /// Whether the text has 8, 4, 4, 4 and 12 hexadecimal digits of either case, separated by dashes.
    public static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Hexadecimal.value(byte) != nil
            }
    }
}
