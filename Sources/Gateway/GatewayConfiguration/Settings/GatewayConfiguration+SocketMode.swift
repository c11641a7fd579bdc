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

extension GatewayConfiguration.SocketMode {
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

extension GatewayConfiguration {
    /// The owner of a Unix socket. The names are not looked up yet; a name of digits only is a number.
    public struct SocketOwner: Hashable, Sendable {
        public let user: String
        public let group: String?
    }
}

extension GatewayConfiguration.SocketOwner: CustomStringConvertible {
    /// As in the configuration.
    public var description: String { user + (group.map { ":\($0)" } ?? "") }
}

extension GatewayConfiguration.SocketOwner {
    /// Reads `USER` or `USER:GROUP`.
    init(_ text: String) throws(InvalidValue) {
        let names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(names.count), names.allSatisfy(Self.isName) else {
            throw InvalidValue("must be a user, or a user and a group, such as privyseal:www-data")
        }
        // In chown(2), this number stands for no change.
        guard !names.contains(String(UInt32.max)) else {
            throw InvalidValue("has the number \(UInt32.max), which is no user and no group; give another one")
        }
        user = names[0]
        group = names.count == 2 ? names[1] : nil
    }

    /// Accepts the names of useradd(8) and of directory services.
    private static func isName(_ text: String) -> Bool {
        text.hasOnlyLetters(or: "-_.") && (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
    }
}

extension SettingKind<GatewayConfiguration.SocketMode> {
    static var socketMode: Self {
        .parsed("four octal digits, such as `\"0660\"`") { text throws(InvalidValue) in
            try GatewayConfiguration.SocketMode(text)
        }
    }
}

extension SettingKind<GatewayConfiguration.SocketOwner> {
    static var socketOwner: Self {
        .parsed("`USER` or `USER:GROUP`") { text throws(InvalidValue) in
            try GatewayConfiguration.SocketOwner(text)
        }
    }
}
