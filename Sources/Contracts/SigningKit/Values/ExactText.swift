import Glibc

/// A text that equals another one only if both have the same UTF-8 bytes. `String` compares by canonical equivalence:
/// it equates é in NFC (one code point) and NFD (two), and U+212A KELVIN SIGN and "K". For Apple these differ.
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
