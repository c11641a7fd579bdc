import AuditKit
import SigningKit

/// Renders the report for a terminal: the verdict, one line for each key and section, and the checks that did not pass.
extension ComplianceReport {
    public var text: String {
        let subjects =
            keys.map { ("key \($0.keyID)", $0.checks) }
            + sections.map { ("\($0.title.prefix(1).lowercased())\($0.title.dropFirst())", $0.checks) }
        var lines = ["\(tally.verdict.word): \(tally.sentence).", ""]
        for (name, checks) in subjects {
            let tally = ComplianceTally(checks)
            lines.append("  \(tally.verdict.word)  \(name): \(tally.sentence)")
        }
        for (name, checks) in subjects {
            let bad = checks.filter { $0.result == .fail } + checks.filter { $0.result == .unavailable }
            guard !bad.isEmpty else { continue }
            lines += ["", name] + bad.map(Self.line)
        }
        let anchored = anchor.map { "Anchored to the checkpoint over \($0.size) entries of \($0.origin)." }
        lines += ["", anchored ?? "Not anchored: there is no checkpoint of an audit log."]
        // A token's label, for example, must not send control characters to the terminal.
        return lines.map(PlainText.of).joined(separator: "\n")
    }

    private static func line(_ check: ComplianceCheck) -> String {
        "  \(check.result.word)  \(check.id): \(check.value.map { "\($0), " } ?? "")expected \(check.expected)."
            + (check.detail.map { " \($0)" } ?? "")
    }
}

extension ComplianceCheck.Result {
    fileprivate var word: String { self == .notApplicable ? "N/A" : rawValue.uppercased() }
}
