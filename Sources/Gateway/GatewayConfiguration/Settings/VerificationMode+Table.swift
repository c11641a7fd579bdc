import Signing

extension VerificationMode {
    private static let intervals = 2...1_000_000

    /// As in `PRIVYSEAL_VERIFICATION`.
    var text: String {
        switch self {
        case .always: "always"
        case .sampled(let interval): "sampled:\(interval)"
        case .off: "off"
        }
    }

    /// Reads `always`, `off` or `sampled:100`.
    init(configured text: String) throws(InvalidValue) {
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

    fileprivate init(interval: Int?) throws(InvalidValue) {
        guard let interval, Self.intervals.contains(interval) else {
            throw InvalidValue(
                "must sample one signature of N, with N a whole number from \(Self.intervals.lowerBound) to "
                    + "\(Self.intervals.upperBound); give always to verify each of them")
        }
        self = .sampled(every: interval)
    }
}

extension SettingKind<VerificationMode> {
    static var verification: Self {
        Self(
            values: "`always`, `off`, `{sampled: N}`",
            read: { node, findings in
                guard case .mapping = node.content else {
                    return node.parsed(findings) { text throws(InvalidValue) in
                        try VerificationMode(configured: text)
                    }
                }
                var given = GivenSettings(node, keys: ["sampled"], findings)
                let what = "N, to verify one of N signatures, such as 100"
                return given?.required("sampled", what, findings)?
                    .parsed(findings, as: .wholeNumber) { text throws(InvalidValue) in
                        try VerificationMode(interval: SettingNode.wholeNumber(text))
                    }
            }, text: { $0.text })
    }
}
