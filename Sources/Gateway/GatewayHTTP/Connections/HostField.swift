/// The value of `Host`: `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2 and §3.2.3).
enum HostField {
    /// - Parameter value: without surrounding white space. Empty if the request-target has no authority.
    static func isValid(_ value: Substring.UTF8View) -> Bool {
        guard value.first == UInt8(ascii: "[") else {
            let name = value.prefix { $0 != UInt8(ascii: ":") }
            return isName(name) && isPort(value[name.endIndex...])
        }
        let address = value.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        guard address.endIndex < value.endIndex else { return false }
        return isAddress(address) && isPort(value[address.endIndex...].dropFirst())
    }

    /// `[ ":" *DIGIT ]`
    private static func isPort(_ rest: Substring.UTF8View) -> Bool {
        guard let colon = rest.first else { return true }
        return colon == UInt8(ascii: ":") && rest.dropFirst().allSatisfy(isDigit)
    }

    /// The characters of an IPv6 address. `IPvFuture` is not accepted.
    private static func isAddress(_ address: Substring.UTF8View) -> Bool {
        address.contains(UInt8(ascii: ":"))
            && address.allSatisfy { isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
    }

    /// An IPv4 address or `reg-name`: unreserved, sub-delims, and `%` with two hexadecimal digits.
    private static func isName(_ name: Substring.UTF8View) -> Bool {
        var rest = name
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(isHexadecimal) else { return false }
                rest = rest.dropFirst(2)
            } else if !isNameByte(byte) {
                return false
            }
        }
        return true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isDigit(byte) || "-._~!$&'()*+,;=".utf8.contains(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: isDigit(byte)
        }
    }
}
