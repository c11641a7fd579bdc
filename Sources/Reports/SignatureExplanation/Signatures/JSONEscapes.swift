import Encodings

/// Decodes escapes that JSON writers use without need: `\/` (PHP's json_encode), `\u002B` and `\u003D` (Gson, ASP.NET).
enum JSONEscapes {
    /// - Parameter beyondASCII: Whether to decode other characters to UTF-8, too. PHP's json_encode escapes them.
    /// - Returns: Nil if the text has no escape, or an escape that cannot be decoded.
    static func decode(_ text: [UInt8], beyondASCII: Bool = false) -> [UInt8]? {
        guard text.contains(UInt8(ascii: "\\")) else { return nil }
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                decoded.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "/"): decoded.append(UInt8(ascii: "/"))
            case UInt8(ascii: "u"):
                guard let scalar = scalar(&rest), beyondASCII || scalar.isASCII else { return nil }
                decoded += Array(String(Character(scalar)).utf8)
            default: return nil
            }
        }
        return decoded
    }

    /// Decodes the part after `\u`: a UTF-16 code unit, or a surrogate pair with `\u` in between (RFC 8259 §7).
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = unit(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard rest.starts(with: Array("\\u".utf8)) else { return nil }
        rest = rest.dropFirst(2)
        guard let second = unit(&rest), UTF16.isTrailSurrogate(second) else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        let digits = Array(rest.prefix(4))
        guard digits.count == 4, let bytes = Hexadecimal.decode(digits), bytes.count == 2 else { return nil }
        rest = rest.dropFirst(4)
        return UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    }
}
