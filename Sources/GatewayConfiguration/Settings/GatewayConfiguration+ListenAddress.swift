import Glibc
import SigningKit

extension GatewayConfiguration {
    /// Where the gateway takes requests: on this machine only, as long as callers cannot be told apart.
    public enum ListenAddress: Hashable, Sendable {
        /// `host` is a loopback address, without brackets, or `localhost`. Port 0 stands for any port that is free.
        case tcp(host: String, port: Int)
        /// An absolute path.
        case unixSocket(path: String)

        /// When nothing else is said.
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
            throw InvalidValue("has a path of \(path.utf8.count) bytes; this system allows a socket \(limit)")
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
        if text == "localhost" { return text }
        if text.hasPrefix("["), text.hasSuffix("]") {
            let host = String(text.dropFirst().dropLast())
            guard isLoopback(ipv6: host) else { throw notLoopback }
            return host
        }
        guard !text.contains(":") else {
            throw InvalidValue("must have an IPv6 address in brackets, such as [::1]:8080")
        }
        guard isLoopback(ipv4: text) else { throw notLoopback }
        return text
    }

    private static let notLoopback = InvalidValue(
        "is not a loopback address; until callers can be told apart the gateway listens on 127.0.0.1, [::1], localhost or "
            + "a Unix socket (unix:/path) only, so put what authenticates callers in front of it")

    /// 127.0.0.0/8 (RFC 1122 §3.2.1.3), four decimal numbers.
    private static func isLoopback(ipv4 text: String) -> Bool {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false).map { octet in
            SettingNode.wholeNumber(String(octet)).flatMap { UInt8(exactly: $0) }
        }
        return octets.count == 4 && octets[0] == 127 && octets.allSatisfy { $0 != nil }
    }

    /// `::1` (RFC 4291 §2.5.3), however it is written.
    private static func isLoopback(ipv6 text: String) -> Bool {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return false }
        return withUnsafeBytes(of: address) { bytes in bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 }
    }
}
