extension GatewayConfiguration {
    /// The parts of an `http:` or `https:` URL.
    public struct Endpoint: Hashable, Sendable {
        public let usesTLS: Bool
        /// A name or an address, without brackets.
        public let host: String
        public let port: Int
        /// With a leading slash.
        public let path: String
        /// As in the configuration.
        public let text: String

        /// Not read yet.
        static let none = Endpoint(usesTLS: false, host: "", port: 0, path: "", text: "")
    }
}

extension GatewayConfiguration.Endpoint: CustomStringConvertible {
    public var description: String { text }
}

extension GatewayConfiguration.Endpoint {
    enum Use {
        case traces, checkpoints

        fileprivate var example: String {
            switch self {
            case .traces: "http://127.0.0.1:4318/v1/traces"
            case .checkpoints: "https://witness.example.com/checkpoints"
            }
        }

        fileprivate var missingPath: String {
            switch self {
            case .traces: "has no path; collectors accept traces at /v1/traces, as in \(example)"
            case .checkpoints: "has no path; give the one that accepts checkpoints, as in \(example)"
            }
        }
    }

    /// Reads `http://127.0.0.1:4318/v1/traces` (RFC 3986 §3). No message repeats it: it may contain a password.
    init(_ text: String, for use: Use) throws(InvalidValue) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InvalidValue(
                "holds a character invalid in URLs, or is longer than 2048 bytes; give one such as \(use.example)")
        }
        let schemes = ["http://": false, "https://": true]
        guard let (scheme, usesTLS) = schemes.first(where: { text.hasPrefix($0.key) }) else {
            throw InvalidValue("must begin with http:// or https://, such as \(use.example)")
        }
        guard !text.contains(where: { "@?#".contains($0) }) else {
            throw InvalidValue(
                "holds a user, a password, a query or a fragment; give the address alone, such as \(use.example)")
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        guard path.utf8.count > 1 else { throw InvalidValue(use.missingPath) }
        let (host, port) = try Self.hostAndPort(String(authority), standard: usesTLS ? 443 : 80, use)
        self.init(usesTLS: usesTLS, host: host, port: port, path: String(path), text: text)
        // Over plain HTTP, others could change a checkpoint or read the token.
        let staysOnMachine = GatewayConfiguration.ListenAddress.tcp(host: host, port: port).staysOnMachine
        guard usesTLS || staysOnMachine || use != .checkpoints else {
            throw InvalidValue(
                "goes to another machine without TLS, so data could be changed in transit; give an https:// URL")
        }
    }

    private static func hostAndPort(
        _ authority: String, standard: Int, _ use: Use
    ) throws(InvalidValue) -> (String, Int) {
        let hasPort = authority.contains(":") && !authority.hasSuffix("]")
        let text = hasPort ? authority : "\(authority):\(standard)"
        do throws(InvalidValue) {
            guard case .tcp(let host, let port) = try GatewayConfiguration.ListenAddress(text), port > 0 else {
                throw InvalidValue("")
            }
            return (host, port)
        } catch {
            throw InvalidValue(
                "must name a host, and a port from 1 to 65535 unless it is \(standard), as in \(use.example)")
        }
    }
}

extension SettingKind<GatewayConfiguration.Endpoint> {
    static func endpoint(for use: GatewayConfiguration.Endpoint.Use, _ values: String) -> Self {
        .parsed(values) { text throws(InvalidValue) in
            try GatewayConfiguration.Endpoint(text, for: use)
        }
    }
}
