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

extension Sequence<String> {
    /// Whether one of these texts has the same UTF-8 bytes. `contains` compares by canonical equivalence, like `==`.
    public func containsExactly(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension RawRepresentable<String> {
    /// The value whose raw value has these UTF-8 bytes. `init(rawValue:)` compares by canonical equivalence, like `==`.
    public init?(exactly text: String) {
        guard let value = Self(rawValue: text), value.rawValue.hasSameBytes(as: text) else { return nil }
        self = value
    }
}

extension Sequence<UInt8> {
    /// Whether the bytes equal a text, except for the case of ASCII letters. `lowercased()` maps other letters, too:
    /// U+212A KELVIN SIGN becomes "k".
    @inlinable
    public func equalsIgnoringASCIICase(_ other: String) -> Bool {
        elementsEqual(other.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    @inlinable
    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
