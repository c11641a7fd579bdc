import Encodings

/// An `http` or `https` URL without user information and without a fragment (RFC 3986 §3).
struct HTTPAddress: Hashable, Sendable {
    let isEncrypted: Bool
    /// In lower case. An IPv6 address has no brackets here.
    let host: String
    /// Nil for the scheme's default port.
    let port: Int?
    /// Path and query. It begins with `/`.
    let target: String

    /// Nil for a text of another form, also for one with a character that a URL does not contain.
    init?(_ text: String) {
        guard let scheme = text.firstRange(of: "://"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        switch text[..<scheme.lowerBound].lowercased() {
        case "https": isEncrypted = true
        case "http": isEncrypted = false
        default: return nil
        }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !rest.contains("#"), !rest.contains("\\"), let (host, port) = Self.hostAndPort(authority) else {
            return nil
        }
        self.host = host
        self.port = port == (isEncrypted ? 443 : 80) ? nil : port
        let target = rest[authority.endIndex...]
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    /// Nil for user information, an empty host and an invalid port.
    private static func hostAndPort(_ authority: Substring) -> (host: String, port: Int?)? {
        var (host, rest) = (authority.prefix { $0 != ":" }, Substring())
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            let isInAddress = { Hexadecimal.value($0) != nil || $0 == UInt8(ascii: ":") }
            guard host.contains(":"), host.utf8.allSatisfy(isInAddress) else { return nil }
        } else {
            rest = authority[host.endIndex...]
            guard !host.isEmpty, host.utf8.allSatisfy(isInName) else { return nil }
        }
        if rest.isEmpty { return (host.lowercased(), nil) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0, rest.dropFirst() == "\(port)" else {
            return nil
        }
        return (host.lowercased(), Int(port))
    }

    private static func isInName(_ byte: UInt8) -> Bool { byte.isASCIIAlphanumeric || "-._".utf8.contains(byte) }

    /// For the header `Host` (RFC 9110 §7.2).
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(name):\($0)" } ?? name
    }

    var text: String { "\(origin)\(target)" }

    /// Scheme, host and port.
    var origin: String { "\(isEncrypted ? "https" : "http")://\(authority)" }

    /// Whether the host is this machine, by name or address. No name is resolved.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether credentials may travel to this address: it is encrypted, or it is on this machine.
    var isConfidential: Bool { isEncrypted || isLoopback }

    /// The same server with another path and query.
    func at(_ target: String) -> HTTPAddress {
        HTTPAddress(isEncrypted: isEncrypted, host: host, port: port, target: target)
    }

    private init(isEncrypted: Bool, host: String, port: Int?, target: String) {
        (self.isEncrypted, self.host, self.port, self.target) = (isEncrypted, host, port, target)
    }

    /// The server of an AWS service, by HTTPS.
    init(host: String) { self.init(isEncrypted: true, host: host, port: nil, target: "/") }
}
