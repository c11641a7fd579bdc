extension GatewayConfiguration {
    /// The permissions of a Unix socket. A process needs write permission to connect (unix(7)).
    public struct SocketMode: Hashable, Sendable {
        /// The nine permission bits, as in chmod(2).
        public let bits: UInt16
    }
}

extension GatewayConfiguration.SocketMode: CustomStringConvertible {
    /// Four octal digits.
    public var description: String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension GatewayConfiguration.SocketMode: ConfiguredText {
    /// Reads `0660`.
    init(_ text: String) throws(InvalidValue) {
        guard text.utf8.count == 4, text.hasPrefix("0"), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let bits = UInt16(text, radix: 8)
        else {
            throw InvalidValue("must be four octal digits and begin with 0, such as \"0660\"")
        }
        guard bits & 0o222 != 0 else {
            throw InvalidValue("allows no user to connect, which requires write permission; give one such as \"0660\"")
        }
        self.bits = bits
    }
}
