import Glibc
import SigningKit

extension GatewayConfiguration {
    public enum ListenAddress: Hashable, Sendable {
        /// `host` is an IPv4 address, an IPv6 address without brackets, or a name. Port 0 stands for any free port.
        case tcp(host: String, port: Int)
        /// An absolute path.
        case unixSocket(path: String)

        /// The default.
        public static let standard = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
    }
}

extension GatewayConfiguration.ListenAddress: CustomStringConvertible {
    /// As in the configuration.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}

extension GatewayConfiguration.ListenAddress {
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
        guard path.hasPrefix("/") else {
            throw InvalidValue("must name the socket by its absolute path, such as unix:/run/privyseal/gateway.sock")
        }
        guard !path.hasSuffix("/"), path.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw InvalidValue("is not the path of a file; give one such as unix:/run/privyseal/gateway.sock")
        }
        // The last byte of the address is a zero (unix(7)).
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count <= limit else {
            throw InvalidValue("has a path of \(path.utf8.count) bytes; this system allows \(limit) for a socket")
        }
        return path
    }

    private static func address(_ text: String) throws(InvalidValue) -> Self {
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
            guard bytes(ofIPv6: host) != nil else {
                throw InvalidValue("has brackets, but no IPv6 address in them; write one such as [::1]:8080")
            }
            return host
        }
        guard !text.contains(":") else {
            throw InvalidValue("must have an IPv6 address in brackets, such as [::1]:8080")
        }
        guard !text.isEmpty else {
            throw InvalidValue(
                "has no address before its port; write one such as 127.0.0.1:8080, or 0.0.0.0:8080 for all")
        }
        guard octets(ofIPv4: text) != nil || DNSName.isName(text) else {
            throw InvalidValue(
                "has neither an IPv4 address nor a host name before its port; write one such as 127.0.0.1:8080")
        }
        return text
    }

    /// Nil unless the text has four decimal numbers.
    private static func octets(ofIPv4 text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let octets = parts.compactMap { SettingNode.wholeNumber(String($0)).flatMap { UInt8(exactly: $0) } }
        return parts.count == 4 && octets.count == 4 ? octets : nil
    }

    private static func bytes(ofIPv6 text: String) -> [UInt8]? {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        return withUnsafeBytes(of: address) { Array($0) }
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
            Self.octets(ofIPv4: host)?.first == 127 || Self.bytes(ofIPv6: host) == Array(repeating: 0, count: 15) + [1]
        }
    }

    public var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }
}
