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
        for fact in installation {
            facts.add(fact.name, Self.show(fact.value))
        }
        return ReportPage(
            kind: "Compliance report", title: "How the signing keys are kept",
            subject:
                "\(keys.count) key\(keys.count == 1 ? "" : "s"), \(checks.count) checks. A check that could not be made is "
                + "reported as unavailable, and never counts as passed.",
            verdict: tally.verdict.mark, verdictText: tally.sentence, facts: facts, reference: "Report \(id)",
            closing:
                "Report \(id). SHA-256 of the member report in its JSON: \(digest). \(isSigned ? Self.signed : Self.unsigned)",
            parts(digest)
        ).html.text
    }

    private static let signed =
        "Both are signed by the audit log's key; privyseal compliance verify checks them."
    private static let unsigned = "It is not signed: any person with access could have changed it."

    // MARK: Parts

    private func parts(_ digest: String) -> [PageSection] {
        var parts = [summary] + failures
        for section in sections { parts.append(part(section)) }
        for key in keys { parts.append(part(key)) }
        return parts + [Self.limits, anchorPart(digest: digest), signatures]
    }

    private var summary: PageSection {
        var table = PageTable([
            .init("Subject"), .init("Passed", .number), .init("Failed", .number), .init("Unavailable", .number),
            .init("Not applicable", .number), .init("Result", .mark),
        ])
        for (name, checks) in keys.map({ ("Key \($0.keyID)", $0.checks) }) + sections.map({ ($0.title, $0.checks) }) {
            let tally = ComplianceTally(checks)
            table.add(
                [
                    "\(name)", "\(tally.passed)", "\(tally.failed)", "\(tally.unavailable)", "\(tally.notApplicable)",
                    tally.verdict.mark.html,
                ], isLoud: tally.failed > 0)
        }
        return PageSection("Summary", [table])
    }

    /// The failed checks. They need action, so they come before the other sections.
    private var failures: [PageSection] {
        let failed =
            keys.flatMap { key in key.checks.filter { $0.result == .fail }.map { ("Key \(key.keyID)", $0) } }
            + sections.flatMap { section in section.checks.filter { $0.result == .fail }.map { (section.title, $0) } }
        guard !failed.isEmpty else { return [] }
        var table = PageTable([
            .init("Subject", width: 18), .init("Check", width: 30), .init("Found and expected", width: 26),
            .init("What to do", width: 26),
        ])
        for (subject, check) in failed {
            table.add(
                [
                    "\(subject)", "\(check.asks)\(HTML.small(check.id))",
                    "\(check.value ?? "nothing")\(HTML.small("expected: \(check.expected)"))", "\(check.detail ?? "")",
                ])
        }
        return [PageSection("What failed", [table])]
    }

    private func part(_ section: Section) -> PageSection {
        var parts: [any PagePart] = []
        if !section.facts.isEmpty { parts.append(Self.list(section.facts)) }
        parts.append(Self.table(section.checks))
        return PageSection(section.title, aside: ComplianceTally(section.checks).verdict.mark.html, parts)
    }

    private func part(_ key: Key) -> PageSection {
        var parts: [any PagePart] = [Self.list(key.facts + [.init("Account", key.issuerID)])]
        parts.append(PageSection("Checks", level: 3, [Self.table(key.checks)]))
        if !key.history.isEmpty { parts.append(PageSection("History", level: 3, [Self.table(key.history)])) }
        return PageSection("Key \(key.keyID)", aside: key.tally.verdict.mark.html, startsNewPage: true, parts)
    }

    private func anchorPart(digest: String) -> PageSection {
        var facts = Facts()
        facts.add("Report", id)
        facts.add("SHA-256 of the member report in its JSON", code: digest)
        guard let anchor else {
            return PageSection(
                "Where this report is anchored",
                [
                    facts,
                    Note("Not anchored.", "There is no checkpoint of an audit log: nothing shows when it was made."),
                ])
        }
        facts.add("Log", anchor.origin)
        facts.add("Entries", "\(anchor.size)")
        facts.add("Root", code: anchor.root)
        let note: HTML = "<pre>\(anchor.note)</pre>"
        facts.add("Signed checkpoint", note)
        return PageSection("Where this report is anchored", [facts])
    }

    /// docs/compliance.md has the full text.
    private static let limits = PageSection(
        "What this report does not prove",
        [
            PageList([
                "That the token tells the truth: attributes are its claims, and the probes show what it refuses today.",
                "That no copy of an imported key exists: it was once outside the token.",
                "What a copy of a key elsewhere did: only this installation was examined.",
                "That its machine is secure: an attacker who controls it has the key that signs the report.",
                "When it was made, only that it was after its checkpoint.",
                "That two names are two people.",
                "That a standard applies: PCI DSS 3.6 and 3.7 apply to keys that protect stored account data, and FIPS 140-3 "
                    + "to cryptographic modules. A reference names the rule that a check follows.",
            ])
        ])

    private var signatures: PageSection {
        PageSection(
            "Signatures",
            [
                SignatureBoxes(
                    statement: "We have read this report, and what it does not prove.",
                    [.init(role: "Key custodian"), .init(role: "Auditor")])
            ])
    }

    // MARK: Helpers

    private static func show(_ text: String) -> HTML { text.isDigest ? .code(text) : HTML(escaping: text) }

    private static func list(_ facts: [Fact]) -> Facts {
        var list = Facts()
        for fact in facts { list.add(fact.name, show(fact.value)) }
        return list
    }

    private static func table(_ checks: [ComplianceCheck]) -> PageTable {
        var table = PageTable([
            .init("Check", width: 24), .init("Found", width: 28), .init("Expected", width: 17),
            .init("Follows", width: 17),
            .init("Result", .mark),
        ])
        for check in checks {
            let question: HTML = "\(check.asks)\(HTML.small(check.id))"
            var found = show(check.value ?? "—")
            if let detail = check.detail { found += .small(detail) }
            found += .small("Evidence: \(check.evidence)")
            let follows: HTML =
                check.requirements.isEmpty ? "—" : HTML(check.requirements.map { "<div>\($0.description)</div>" })
            table.add(
                [question, found, show(check.expected), follows, check.result.mark.html], isLoud: check.result == .fail)
        }
        return table
    }

    private static func table(_ history: [HistoryLine]) -> PageTable {
        var table = PageTable([
            .init("Time", width: 24), .init("Change", width: 24), .init("By", width: 22), .init("Reason", width: 30),
        ])
        for line in history {
            table.add([
                "\(line.time.text)", "\(line.action)\(HTML.small(line.change))",
                "\(line.actor)\(HTML.small(line.approver.map { "approved by \($0)" } ?? "alone"))", "\(line.reason)",
            ])
        }
        return table
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

extension String {
    /// Whether to show the text as code: a digest or a key URI.
    fileprivate var isDigest: Bool {
        hasPrefix("sha256:") || (utf8.count == 64 && allSatisfy(\.isHexDigit)) || hasPrefix("pkcs11:")
            || hasPrefix("file:")
    }
}
