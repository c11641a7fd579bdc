extension GatewayConfiguration {
    /// The permissions of a Unix socket. A process needs write permission to connect (unix(7)).
    public struct SocketMode: Hashable, Sendable, CustomStringConvertible {
        /// The nine permission bits, as in chmod(2).
        public let bits: UInt16
        /// Four octal digits.
        public let description: String

        /// Reads `0660`.
        init(_ text: String) throws(InvalidValue) {
            guard text.utf8.count == 4, text.hasPrefix("0"), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let bits = UInt16(text, radix: 8)
            else { throw InvalidValue("must be four octal digits and begin with 0, such as \"0660\"") }
            try require(
                bits & 0o222 != 0,
                "allows no user to connect, which requires write permission; give one such as \"0660\"")
            (self.bits, description) = (bits, text)
        }
    }

    /// The owner of a Unix socket. The names are not looked up yet; a name of digits only is a number.
    public struct SocketOwner: Hashable, Sendable, CustomStringConvertible {
        public let user: String
        public let group: String?

        /// As in the configuration.
        public var description: String { user + (group.map { ":\($0)" } ?? "") }

        /// Reads `USER` or `USER:GROUP`.
        init(_ text: String) throws(InvalidValue) {
            let names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            try require(
                (1...2).contains(names.count) && names.allSatisfy(Self.isName),
                "must be a user, or a user and a group, such as privyseal:www-data")
            // In chown(2), this number stands for no change.
            try require(
                !names.contains(String(UInt32.max)),
                "has the number \(UInt32.max), which is no user and no group; give another one")
            user = names[0]
            group = names.count == 2 ? names[1] : nil
        }

        /// Accepts the names of useradd(8) and of directory services.
        private static func isName(_ text: String) -> Bool {
            text.hasOnlyLetters(or: "-_.") && (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
        }
    }
}
