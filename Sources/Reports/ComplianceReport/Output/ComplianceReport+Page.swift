import KeyLifecycle
import ReportPages
import SigningKit

/// Renders the report as one HTML page, also for print. The page shows the digest of the report's JSON.
extension ComplianceReport {
    /// - Parameters:
    ///   - digest: The SHA-256 of the report's JSON, in hexadecimal digits.
    ///   - isSigned: Whether the audit log's key signs the report.
    /// - Returns: The same bytes for the same report.
    public func page(digest: String, isSigned: Bool) -> String {
        var facts = Facts(isWide: true)
        facts.add("Made", made.text)
        for fact in installation { facts.add(fact.name, Self.show(fact.value)) }
        let signed =
            isSigned
            ? "Both are signed by the audit log's key; privyseal compliance verify checks them."
            : "It is not signed: any person with access could have changed it."
        return ReportPage.html(
            kind: "Compliance report", title: "How the signing keys are kept",
            subject:
                "\(keys.count) key\(keys.count == 1 ? "" : "s"), \(checks.count) checks. A check that could not be "
                + "made is reported as unavailable, and never counts as passed.",
            verdict: tally.verdict.mark, verdictText: tally.sentence, facts: facts, reference: "Report \(id)",
            closing: "Report \(id). SHA-256 of the member report in its JSON: \(digest). \(signed)",
            [summary, failures] + sections.map(part) + keys.map(part) + [
                Self.limits, anchorPart(digest), Self.signatures,
            ]
        ).text
    }

    /// The checks by subject.
    private var subjects: [(name: String, checks: [ComplianceCheck])] {
        keys.map { ("Key \($0.keyID)", $0.checks) } + sections.map { ($0.title, $0.checks) }
    }

    // MARK: Parts

    private var summary: HTML {
        var table = PageTable([
            .init("Subject"), .init("Passed", .number), .init("Failed", .number), .init("Unavailable", .number),
            .init("Not applicable", .number), .init("Result", .mark),
        ])
        for (name, checks) in subjects {
            let tally = ComplianceTally(checks)
            let counts = [tally.passed, tally.failed, tally.unavailable, tally.notApplicable].map { "\($0)" as HTML }
            table.add(["\(name)"] + counts + [tally.verdict.mark.html], isLoud: tally.failed > 0)
        }
        return .section("Summary", [table.html])
    }

    /// The failed checks. They need action, so they come before the other sections.
    private var failures: HTML {
        guard tally.failed > 0 else { return "" }
        var table = PageTable([
            .init("Subject", width: 18), .init("Check", width: 30), .init("Found and expected", width: 26),
            .init("What to do", width: 26),
        ])
        for (name, checks) in subjects {
            for check in checks where check.result == .fail {
                table.add([
                    "\(name)", "\(check.asks)\(HTML.small(check.id))",
                    "\(check.value ?? "nothing")\(HTML.small("expected: \(check.expected)"))", "\(check.detail ?? "")",
                ])
            }
        }
        return .section("What failed", [table.html])
    }

    private func part(_ section: Section) -> HTML {
        let mark = ComplianceTally(section.checks).verdict.mark.html
        return .section(section.title, aside: mark, [Self.list(section.facts), Self.table(section.checks)])
    }

    private func part(_ key: Key) -> HTML {
        var parts = [
            Self.list(key.facts + [.init("Account", key.issuerID)]),
            .section("Checks", isSubsection: true, [Self.table(key.checks)]),
        ]
        if !key.history.isEmpty { parts.append(.section("History", isSubsection: true, [Self.table(key.history)])) }
        return .section("Key \(key.keyID)", aside: key.tally.verdict.mark.html, startsNewPage: true, parts)
    }

    private func anchorPart(_ digest: String) -> HTML {
        var facts = Facts()
        facts.add("Report", id)
        facts.add("SHA-256 of the member report in its JSON", code: digest)
        var parts: [HTML] = []
        if let anchor {
            facts.add("Log", anchor.origin)
            facts.add("Entries", "\(anchor.size)")
            facts.add("Root", code: anchor.root)
            let note: HTML = "<pre>\(anchor.note)</pre>"
            facts.add("Signed checkpoint", note)
        } else {
            parts = [
                .note("Not anchored.", "There is no checkpoint of an audit log: nothing shows when it was made.")
            ]
        }
        return .section("Where this report is anchored", [facts.html] + parts)
    }

    /// docs/compliance.md has the full text.
    private static let limits = HTML.section(
        "What this report does not prove",
        [
            .list([
                "That the token tells the truth: attributes are its claims, and the probes show what it refuses today.",
                "That no copy of an imported key exists: it was once outside the token.",
                "What a copy of a key elsewhere did: only this installation was examined.",
                "That its machine is secure: an attacker who controls it has the key that signs the report.",
                "When it was made, only that it was after its checkpoint.",
                "That two names are two people.",
                "That a standard applies: PCI DSS 3.6 and 3.7 apply to keys that protect stored account data, and FIPS "
                    + "140-3 to cryptographic modules. A reference names the rule that a check follows.",
            ])
        ])

    private static let signatures = HTML.section(
        "Signatures",
        [
            .signatureBoxes(
                "We have read this report, and what it does not prove.", [("Key custodian", nil), ("Auditor", nil)])
        ])

    // MARK: Helpers

    /// Digests and key URIs are shown as code.
    private static func show(_ text: String) -> HTML {
        let isCode =
            ["sha256:", "pkcs11:", "file:"].contains { text.hasPrefix($0) }
            || (text.utf8.count == 64 && text.allSatisfy(\.isHexDigit))
        return isCode ? .code(text) : HTML(escaping: text)
    }

    private static func list(_ facts: [Fact]) -> HTML {
        var list = Facts()
        for fact in facts { list.add(fact.name, show(fact.value)) }
        return list.html
    }

    private static func table(_ checks: [ComplianceCheck]) -> HTML {
        var table = PageTable([
            .init("Check", width: 24), .init("Found", width: 28), .init("Expected", width: 17),
            .init("Follows", width: 17), .init("Result", .mark),
        ])
        for check in checks {
            let detail = check.detail.map(HTML.small) ?? ""
            let follows: HTML =
                check.requirements.isEmpty ? "—" : HTML(check.requirements.map { "<div>\($0.description)</div>" })
            table.add(
                [
                    "\(check.asks)\(HTML.small(check.id))",
                    show(check.value ?? "—") + detail + .small("Evidence: \(check.evidence)"), show(check.expected),
                    follows, check.result.mark.html,
                ], isLoud: check.result == .fail)
        }
        return table.html
    }

    private static func table(_ history: [KeyLifecycleChange]) -> HTML {
        var table = PageTable([
            .init("Time", width: 24), .init("Change", width: 24), .init("By", width: 22), .init("Reason", width: 30),
        ])
        for line in history {
            table.add([
                "\(line.time.text)", "\(line.action.rawValue)\(HTML.small(line.states))",
                "\(line.actor)\(HTML.small(line.approver.map { "approved by \($0)" } ?? "alone"))", "\(line.reason)",
            ])
        }
        return table.html
    }
}

extension ComplianceCheck.Result {
    fileprivate var mark: Mark {
        switch self {
        case .pass: .pass
        case .fail: .fail
        case .unavailable: .unavailable
        case .notApplicable: .notApplicable
        }
    }
}
