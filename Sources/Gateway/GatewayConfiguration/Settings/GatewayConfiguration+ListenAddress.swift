import Glibc
import SigningKit

extension GatewayConfiguration {
    public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
        /// `host` is an IPv4 address, an IPv6 address without brackets, or a name. Port 0 stands for any free port.
        case tcp(host: String, port: Int)
        /// An absolute path.
        case unixSocket(path: String)

        /// The default.
        public static let standard = ListenAddress.tcp(host: "127.0.0.1", port: 8080)

        /// As in the configuration.
        public var description: String {
            switch self {
            case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .unixSocket(let path): "unix:\(path)"
            }
        }
    }
}

extension GatewayConfiguration.ListenAddress {
    /// Nil for text that a configuration could not have either.
    public init?(argument text: String) {
        guard let address = try? Self(text) else { return nil }
        self = address
    }

    /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or `unix:/run/privyseal.sock`.
    init(_ text: String) throws(InvalidValue) {
        let prefix = "unix:"
        if text.hasPrefix(prefix) {
            self = .unixSocket(path: try Self.socketPath(String(text.dropFirst(prefix.count))))
        } else if text.hasPrefix("/") {
            throw InvalidValue("is a path; write unix: in front of it to listen on a Unix socket")
        } else {
            self = try Self.address(text)
        }
    }

    private static func socketPath(_ path: String) throws(InvalidValue) -> String {
        try require(
            path.hasPrefix("/"),
            "must name the socket by its absolute path, such as unix:/run/privyseal/gateway.sock")
        try require(
            !path.hasSuffix("/") && !path.hasControlCharacters,
            "is not the path of a file; give one such as unix:/run/privyseal/gateway.sock")
        // The last byte of the address is a zero (unix(7)).
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        try require(
            path.utf8.count <= limit,
            "has a path of \(path.utf8.count) bytes; this system allows \(limit) for a socket")
        return path
    }

    private static func address(_ text: String) throws(InvalidValue) -> Self {
        try require(!text.isEmpty, "is empty; write an address and a port, such as 127.0.0.1:8080")
        try require(!text.contains("://"), "is a URL; write only the address and the port, such as 127.0.0.1:8080")
        guard let colon = text.lastIndex(of: ":") else {
            throw InvalidValue("has no port; write an address and a port, such as 127.0.0.1:8080")
        }
        let host = try host(String(text[..<colon]))
        let digits = String(text[text.index(after: colon)...])
        guard let port = SettingNode.wholeNumber(digits), (0...65535).contains(port) else {
            throw InvalidValue("must end in a port from 0 to 65535, such as 127.0.0.1:8080")
        }
        return .tcp(host: host, port: port)
    }

    private static func host(_ text: String) throws(InvalidValue) -> String {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let host = String(text.dropFirst().dropLast())
            try require(
                bytes(of: host, AF_INET6) != nil,
                "has brackets, but no IPv6 address in them; write one such as [::1]:8080")
            return host
        }
        try require(!text.contains(":"), "must have an IPv6 address in brackets, such as [::1]:8080")
        try require(
            !text.isEmpty, "has no address before its port; write one such as 127.0.0.1:8080, or 0.0.0.0:8080 for all")
        try require(
            bytes(of: text, AF_INET) != nil || DNSName.isName(text),
            "has neither an IPv4 address nor a host name before its port; write one such as 127.0.0.1:8080")
        return text
    }

    /// The bytes of an address of the family `AF_INET` or `AF_INET6`.
    private static func bytes(of text: String, _ family: Int32) -> [UInt8]? {
        var address = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
        // A C string ends at a NUL, which a quoted YAML text may contain.
        return !text.utf8.contains(0) && inet_pton(family, text, &address) == 1 ? address : nil
    }
}

extension GatewayConfiguration.ListenAddress {
    /// Whether only this machine reaches the address: a Unix socket, 127.0.0.0/8 (RFC 1122 §3.2.1.3), `::1` in any
    /// notation (RFC 4291 §2.5.3), or `localhost`. Other names may resolve to other machines.
    public var staysOnMachine: Bool {
        switch self {
        case .unixSocket: true
        case .tcp("localhost", _): true
        case .tcp(let host, _):
            Self.bytes(of: host, AF_INET)?.first == 127
                || Self.bytes(of: host, AF_INET6) == Array(repeating: 0, count: 15) + [1]
        }
    }

    public var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }
}
