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

extension GatewayConfiguration.SocketOwner: ConfiguredText {
    /// Reads `USER` or `USER:GROUP`.
    init(_ text: String) throws(InvalidValue) {
        let names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(names.count), names.allSatisfy(Self.isName) else {
            throw InvalidValue("must be a user, or a user and a group, such as privyseal:www-data")
        }
        user = names[0]
        group = names.count == 2 ? names[1] : nil
    }

    /// Accepts the names of useradd(8) and of directory services.
    private static func isName(_ text: String) -> Bool {
        text.hasOnlyLetters(or: "-_.") && (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
    }
}
