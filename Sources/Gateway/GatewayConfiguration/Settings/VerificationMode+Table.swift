import Signing

extension SettingKind<VerificationMode> {
    static var verification: Self {
        Self(
            values: "`always`, `off`, `{sampled: N}`",
            read: { node, findings in
                guard case .mapping = node.content else { return node.parsed(findings, mode) }
                var given = GivenSettings(node, keys: ["sampled"], findings)
                let what = "N, to verify one of N signatures, such as 100"
                return given?.required("sampled", what, findings)?.parsed(findings, as: .wholeNumber, sampled)
            },
            text: { mode in
                switch mode {
                case .always: "always"
                case .sampled(let interval): "sampled:\(interval)"
                case .off: "off"
                }
            })
    }

    /// Reads `always`, `off` or `sampled:100`, as in `PRIVYSEAL_VERIFICATION`.
    private static func mode(_ text: String) throws(InvalidValue) -> VerificationMode {
        switch text {
        case "always": return .always
        case "off": return .off
        default:
            let prefix = "sampled:"
            try require(
                text.hasPrefix(prefix),
                "is \(Excerpt.quoted(text)); give always, off or, for one signature of a hundred, sampled:100")
            return try sampled(String(text.dropFirst(prefix.count)))
        }
    }

    private static func sampled(_ digits: String) throws(InvalidValue) -> VerificationMode {
        guard let interval = SettingNode.wholeNumber(digits), (2...1_000_000).contains(interval) else {
            throw InvalidValue(
                "must sample one signature of N, with N a whole number from 2 to 1000000; give always to verify "
                    + "each of them")
        }
        return .sampled(every: interval)
    }
}
