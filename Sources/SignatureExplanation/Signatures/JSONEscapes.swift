/// The escapes that JSON writers put where none is needed: `\/` (PHP's json_encode), `\u002B` and `\u003D` (Gson, ASP.NET).
enum JSONEscapes {
    /// Nil when there is no such escape, or one that cannot be read.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
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
                let digits = Array(rest.prefix(4))
                guard digits.count == 4, let unit = Hexadecimal.decode(digits), unit[0] == 0, unit[1] < 0x80 else {
                    return nil
                }
                decoded.append(unit[1])
                rest = rest.dropFirst(4)
            default: return nil
            }
        }
        return decoded
    }
}
