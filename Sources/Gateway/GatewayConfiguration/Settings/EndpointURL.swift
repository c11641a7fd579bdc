/// Checks the `http:` and `https:` URLs (RFC 3986 §3) with which the gateway exchanges data.
struct EndpointURL: Sendable {
    /// For messages.
    let example: String
    /// What to give if the path is missing; nil if it may be.
    let path: String?
    /// Whether plain HTTP is allowed on this machine only.
    let needsTLS: Bool

    static let traces = EndpointURL(
        example: "http://127.0.0.1:4318/v1/traces", path: "collectors accept traces at /v1/traces", needsTLS: false)
    static let checkpoints = EndpointURL(
        example: "https://witness.example.com/checkpoints", path: "give the one that accepts checkpoints",
        needsTLS: true)
    static let keySet = EndpointURL(
        example: "https://issuer.example.com/.well-known/jwks.json", path: "give the one of the JWK set", needsTLS: true
    )

    /// The submission prefix of a witness (C2SP tlog-witness).
    static let witness = EndpointURL(example: "https://witness.example.com", path: nil, needsTLS: true)

    /// No message repeats the text: it may contain a password.
    func checked(_ text: String) throws(InvalidValue) -> String {
        try require(
            text.utf8.count <= 2048 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) },
            "holds a character invalid in URLs, or is longer than 2048 bytes; give one such as \(example)")
        guard let (scheme, port) = ["http://": 80, "https://": 443].first(where: { text.hasPrefix($0.key) }) else {
            throw InvalidValue("must begin with http:// or https://, such as \(example)")
        }
        try require(
            !text.contains { "@?#".contains($0) },
            "holds a user, a password, a query or a fragment; give the address alone, such as \(example)")
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        if let path {
            try require(rest.utf8.count > authority.utf8.count + 1, "has no path; \(path), as in \(example)")
        }
        let hasPort = authority.contains(":") && !authority.hasSuffix("]")
        let address = try? GatewayConfiguration.ListenAddress(hasPort ? String(authority) : "\(authority):\(port)")
        guard let address, case .tcp(_, 1...) = address else {
            throw InvalidValue("must name a host, and a port from 1 to 65535 unless it is \(port), as in \(example)")
        }
        // Over plain HTTP, others could change a checkpoint or read the token.
        try require(
            port == 443 || address.staysOnMachine || !needsTLS,
            "goes to another machine without TLS, so data could be changed in transit; give an https:// URL")
        return text
    }
}

extension SettingKind<String> {
    static func url(for use: EndpointURL, _ values: String) -> Self {
        .parsed(values) { text throws(InvalidValue) in try use.checked(text) }
    }
}
