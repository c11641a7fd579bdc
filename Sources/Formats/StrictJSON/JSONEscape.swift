/// The escapes of RFC 8259 §7.
enum JSONEscape {
    /// Replaces escapes by their characters. `content` is parsed: its escapes are complete and its surrogates paired.
    static func resolve(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var resolved: [UInt8] = []
        resolved.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
                resolved.append(byte)
                continue
            }
            if let character = character(for: letter) {
                resolved.append(character)
                continue
            }
            var scalar = codeUnit(&rest)
            if (0xD800...0xDBFF).contains(scalar) {
                rest = rest.dropFirst(2)
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + codeUnit(&rest) & 0x3FF
            }
            if let scalar = Unicode.Scalar(scalar) { resolved.append(contentsOf: scalar.utf8) }
        }
        return resolved
    }

    /// The character of a one-letter escape, after its backslash; nil for any other letter.
    static func character(for letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func digit(_ byte: UInt8) -> UInt32? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt32.init) }

    /// Removes four digits.
    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt32 {
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 4 | (digit($1) ?? 0) }
    }
}
