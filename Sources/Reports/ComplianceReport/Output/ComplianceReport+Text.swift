import AuditKit
import SigningKit

/// Renders the report for a terminal: the verdict, one line for each key and section, and the checks that did not pass.
extension ComplianceReport {
    public var text: String {
        let name = { (result: ComplianceCheck.Result) in result.word.uppercased() }
        var lines = ["\(name(tally.verdict)): \(tally.sentence).", ""]
        for key in keys { lines.append("  \(name(key.tally.verdict))  key \(key.keyID): \(key.tally.sentence)") }
        for section in sections {
            let tally = ComplianceTally(section.checks)
            lines.append("  \(name(tally.verdict))  \(section.title.lowercasedFirst): \(tally.sentence)")
        }
        for key in keys { lines += Self.complaints(key.checks, "key \(key.keyID)") }
        for section in sections { lines += Self.complaints(section.checks, section.title.lowercasedFirst) }
        lines.append("")
        if let anchor {
            lines.append("Anchored to the checkpoint over \(anchor.size) entries of \(anchor.origin).")
        } else {
            lines.append("Not anchored: there is no checkpoint of an audit log.")
        }
        // A token's label, for example, must not send control characters to the terminal.
        return lines.map(PlainText.of).joined(separator: "\n")
    }

    private static func complaints(_ checks: [ComplianceCheck], _ about: String) -> [String] {
        let bad = checks.filter { $0.result == .fail } + checks.filter { $0.result == .unavailable }
        guard !bad.isEmpty else { return [] }
        return ["", about]
            + bad.map { check in
                let found = check.value.map { "\($0), expected \(check.expected)" } ?? "expected \(check.expected)"
                return "  \(check.result.word.uppercased())  \(check.id): \(found)."
                    + (check.detail.map { " \($0)" } ?? "")
            }
    }
}

extension ComplianceCheck.Result {
    var word: String { self == .notApplicable ? "n/a" : rawValue }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
