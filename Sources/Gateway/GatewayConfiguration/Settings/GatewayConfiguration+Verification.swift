extension GatewayConfiguration {
    /// Which signatures the gateway verifies with the public key before it returns them.
    public enum Verification: Hashable, Sendable {
        case always
        /// One of `interval` signatures, at least 2.
        case sampled(interval: Int)
        case off

        static let intervals = 2...1_000_000
    }
}

extension GatewayConfiguration.Verification: CustomStringConvertible {
    /// As in `PRIVYSEAL_VERIFICATION`.
    public var description: String {
        switch self {
        case .always: "always"
        case .sampled(let interval): "sampled:\(interval)"
        case .off: "off"
        }
    }
}

extension GatewayConfiguration.Verification {
    /// Reads `always`, `off` or `sampled:100`.
    init(_ text: String) throws(InvalidValue) {
        let prefix = "sampled:"
        switch text {
        case "always": self = .always
        case "off": self = .off
        default:
            guard text.hasPrefix(prefix) else {
                throw InvalidValue(
                    "is \(Excerpt.quoted(text)); give always, off or, for one signature of a hundred, sampled:100")
            }
            try self.init(interval: SettingNode.wholeNumber(String(text.dropFirst(prefix.count))))
        }
    }

    init(interval: Int?) throws(InvalidValue) {
        guard let interval, Self.intervals.contains(interval) else {
            throw InvalidValue(
                "must sample one signature of N, with N a whole number from \(Self.intervals.lowerBound) to "
                    + "\(Self.intervals.upperBound); give always to verify each of them")
        }
        self = .sampled(interval: interval)
    }
}

extension SettingKind<GatewayConfiguration.Verification> {
    static var verification: Self {
        Self(
            values: "`always`, `off`, `{sampled: N}`",
            read: { node, findings in
                guard case .mapping = node.content else {
                    return node.parsed(findings) { text throws(InvalidValue) in
                        try GatewayConfiguration.Verification(text)
                    }
                }
                var given = GivenSettings(node, keys: ["sampled"], findings)
                let what = "N, to verify one of N signatures, such as 100"
                return given?.required("sampled", what, findings)?
                    .parsed(findings, as: .wholeNumber) { text throws(InvalidValue) in
                        try GatewayConfiguration.Verification(interval: SettingNode.wholeNumber(text))
                    }
            }, text: { $0.description })
    }
}
