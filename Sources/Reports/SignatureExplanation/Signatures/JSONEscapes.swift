import Encodings

/// Decodes escapes that JSON writers use without need: `\/` (PHP's json_encode), `\u002B` and `\u003D` (Gson, ASP.NET).
enum JSONEscapes {
    /// - Parameter beyondASCII: Whether to decode other characters to UTF-8, too. PHP's json_encode escapes them, those
    ///   above U+FFFF as a surrogate pair (RFC 8259 §7).
    /// - Returns: Nil if the text has no escape, or an escape that cannot be decoded.
    static func decode(_ text: [UInt8], beyondASCII: Bool = false) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "\\")) else { return nil }
        var decoded: [UInt8] = []
        // The code units of consecutive escapes.
        var units: [UInt16] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "u") {
                rest = rest.dropFirst()
                guard let unit = codeUnit(&rest), beyondASCII || unit < 0x80 else { return nil }
                units.append(unit)
                continue
            }
            guard let plain = String(validating: units, as: UTF16.self) else { return nil }
            decoded += Array(plain.utf8)
            units = []
            if byte == UInt8(ascii: "\\") {
                guard rest.popFirst() == UInt8(ascii: "/") else { return nil }
                decoded.append(UInt8(ascii: "/"))
            } else {
                decoded.append(byte)
            }
        }
        return String(validating: units, as: UTF16.self).map { decoded + Array($0.utf8) }
    }

    private static func codeUnit(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        guard let bytes = Hexadecimal.decode(Array(rest.prefix(4))), bytes.count == 2 else { return nil }
        rest = rest.dropFirst(4)
        return UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    }
}
