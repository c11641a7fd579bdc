import Glibc

/// A text that equals another one only if both have the same bytes in UTF-8.
///
/// `String` compares by canonical equivalence: for it, an é in one code point (NFC) and one in two (NFD) are the same text,
/// and so are U+212A KELVIN SIGN and "K". For Apple they are two.
public struct ExactText: Hashable, Sendable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both texts have the same bytes in UTF-8.
    public func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let left = left.baseAddress, let start = right.baseAddress else { return true }
                return memcmp(left, start, right.count) == 0
            }
        }
    }
}
