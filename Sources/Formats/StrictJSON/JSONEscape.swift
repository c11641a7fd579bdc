/// The escapes of RFC 8259 §7.
enum JSONEscape {
    /// Replaces escapes by their characters. `content` is parsed: its escapes are complete and its surrogates paired.
    static func resolve(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var resolved: [UInt8] = []
        resolved.reserveCapacity(content.count)
        var index = content.startIndex
        while index < content.endIndex {
            guard content[index] == UInt8(ascii: "\\") else {
                resolved.append(content[index])
                index += 1
                continue
            }
            let letter = content[index + 1]
            index += 2
            guard letter == UInt8(ascii: "u") else {
                resolved.append(character(for: letter))
                continue
            }
            var scalar = codeUnit(content, at: index)
            index += 4
            if (0xD800...0xDBFF).contains(scalar) {
                scalar = 0x10000 + (scalar - 0xD800) << 10 + (codeUnit(content, at: index + 2) - 0xDC00)
                index += 6
            }
            append(scalar, to: &resolved)
        }
        return resolved
    }

    /// Whether `letter` is a one-letter escape after a backslash.
    static func isShort(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            true
        default: false
        }
    }

    static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private static func character(for letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func codeUnit(_ content: ArraySlice<UInt8>, at index: Int) -> UInt32 {
        var unit: UInt32 = 0
        for offset in 0..<4 {
            unit = unit << 4 | (digit(content[index + offset]) ?? 0)
        }
        return unit
    }

    private static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(scalar) else { return }  // Unreachable: the parser refuses lone surrogates.
        bytes.append(contentsOf: scalar.utf8)
    }
}
