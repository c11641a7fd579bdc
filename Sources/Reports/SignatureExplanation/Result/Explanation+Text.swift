/// Texts for a terminal. Invisible characters are named: the input, and the `kid` of a JWKS, may contain control
/// characters.
extension Explanation {
    /// One line: the validity, the kind and the key.
    public var verdict: String {
        if isValid { return "valid: \(kind)" + (key.map { ", signed by \(VisibleText.of($0.name))" } ?? "") }
        if findings.contains(where: { $0.code == .signatureUnreadable }) {
            return "invalid: \(kind): it has no signature to verify"
        }
        let reason =
            switch outcome {
            case .verified: "the signature verifies, but not everything is as Apple's pages require"
            case .explained: "the signature was made with a known mistake"
            case .unverified:
                keys.count == 1
                    ? "the signature does not verify with the key"
                    : "the signature verifies with none of the \(keys.count) keys"
            case .unexplained: "the signature does not verify, and no known mistake explains it"
            }
        return "invalid: \(kind): \(reason)"
    }

    /// One line for each finding: its severity and message.
    public var remarks: [String] { findings.map { "\($0.severity.rawValue): \(VisibleText.of($0.message))" } }

    /// The verdict, every finding with its remedy and, if invalid, the expected signing input.
    public var report: String {
        var lines = [verdict]
        for (index, finding) in findings.enumerated() {
            lines += ["", "\(index + 1). \(finding.code.rawValue) (\(Self.weight(of: finding)))"]
            lines.append("   \(VisibleText.of(finding.message))")
            lines.append("   \(finding.severity == .note ? "Hint" : "Cure"): \(finding.cure)")
        }
        guard !isValid else { return lines.joined(separator: "\n") }
        if let signingInput { lines += [""] + Self.lines(of: signingInput) }
        lines += ["", "Keys that were tried:"] + keys.map { "   \(VisibleText.of($0.name))  \($0.fingerprint)" }
        return (lines + ["Verifications: \(verifications)"]).joined(separator: "\n")
    }

    private static func weight(of finding: Finding) -> String {
        switch (finding.evidence, finding.severity) {
        case (.proven, .error): "proven: with this mistake the signature verifies"
        case (.seen, .error): finding.code == .unexplained ? "not explained" : "seen"
        case (_, let severity): severity.rawValue
        }
    }

    private static func lines(of rendering: SigningInputRendering) -> [String] {
        let width = rendering.parts.map(\.name.count).max() ?? 0
        return ["To be signed: \(rendering.length) bytes, SHA-256 \(rendering.sha256)", "   \(rendering.line)"]
            + rendering.parts.map { part in
                let padding = String(repeating: " ", count: width - part.name.count)
                return "   \(part.name)\(padding)  \(part.text.isEmpty ? "(empty)" : part.text)  [\(part.length)]"
            }
    }
}
