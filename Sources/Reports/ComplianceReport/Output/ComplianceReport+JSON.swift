internal import SigningKit
public import StrictJSON

/// Writes compact JSON with a fixed order of members. Equal reports have equal bytes, which the signature covers.
extension ComplianceReport: JSONWritable {
    public static let version = 1

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("version", Self.version)
            writer.member("id", id)
            writer.member("made", made.text)
            writer.name("verdict")
            write(tally, &writer)
            writer.name("installation")
            write(installation, &writer)
            writer.name("anchor")
            if let anchor { write(anchor, &writer) } else { writer.null() }
            writer.name("sections")
            writer.array { writer in for section in sections { write(section, &writer) } }
            writer.name("keys")
            writer.array { writer in for key in keys { write(key, &writer) } }
        }
    }

    private func write(_ tally: ComplianceTally, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("result", tally.verdict.rawValue)
            writer.member("passed", tally.passed)
            writer.member("failed", tally.failed)
            writer.member("unavailable", tally.unavailable)
            writer.member("notApplicable", tally.notApplicable)
        }
    }

    private func write(_ facts: [Fact], _ writer: inout JSONWriter) {
        writer.object { writer in
            for fact in facts {
                writer.name(escaping: fact.name)
                writer.string(fact.value)
            }
        }
    }

    private func write(_ anchor: Anchor, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("origin", anchor.origin)
            writer.member("size", anchor.size)
            writer.member("root", anchor.root)
            writer.member("note", anchor.note)
        }
    }

    private func write(_ section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", section.id)
            writer.member("title", section.title)
            writer.name("checks")
            write(section.checks, &writer)
            // An array of strings, because several facts may have the same name.
            writer.name("facts")
            writer.array { writer in
                for fact in section.facts { writer.string("\(fact.name): \(fact.value)") }
            }
        }
    }

    private func write(_ key: Key, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("issuerId", key.issuerID)
            writer.member("keyId", key.keyID)
            writer.name("verdict")
            write(key.tally, &writer)
            writer.name("facts")
            write(key.facts, &writer)
            writer.name("history")
            writer.array { writer in for line in key.history { write(line, &writer) } }
            writer.name("checks")
            write(key.checks, &writer)
        }
    }

    private func write(_ line: HistoryLine, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", line.time.text)
            writer.member("action", line.action)
            writer.member("change", line.change)
            writer.member("actor", line.actor)
            if let approver = line.approver { writer.member("approver", approver) }
            writer.member("reason", line.reason)
        }
    }

    private func write(_ checks: [ComplianceCheck], _ writer: inout JSONWriter) {
        writer.array { writer in
            for check in checks {
                writer.object { writer in
                    writer.member("id", check.id)
                    writer.member("asks", check.asks)
                    writer.name("requirements")
                    writer.array { writer in for place in check.requirements { writer.string("\(place)") } }
                    if let value = check.value { writer.member("value", value) }
                    writer.member("expected", check.expected)
                    writer.member("result", check.result.rawValue)
                    if let detail = check.detail { writer.member("detail", detail) }
                    writer.member("evidence", check.evidence)
                }
            }
        }
    }
}
