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
    public func equalsIgnoringASCIICase(_ other: String) -> Bool {
        elementsEqual(other.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
