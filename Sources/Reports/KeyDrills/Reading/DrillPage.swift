import ReportPages
import SigningKit

/// A drill record as an HTML page for print, with two boxes for signatures.
public struct DrillPage {
    private let record: DrillRecord
    private let predecessor: DrillRecord?
    private let digest: String

    /// - Parameters:
    ///   - predecessor: The previous drill of the same scenario.
    ///   - digest: The SHA-256 of the record's file, in hexadecimal digits.
    public init(_ record: DrillRecord, predecessor: DrillRecord?, digest: String) {
        self.record = record
        self.predecessor = predecessor
        self.digest = digest
    }

    public var html: String {
        var parts: [any PagePart] = [outcome, course]
        parts += [steps, load, evidence]
        if let comparison { parts.append(comparison) }
        parts.append(signatures)
        return ReportPage(
            kind: "Drill record", title: record.scenario.title, subject: record.scenario.summary,
            verdict: Self.mark(record.verdict), verdictText: record.verdict.rawValue, facts: facts,
            reference: record.id,
            closing: "Drill \(record.id). This page was made from \(record.id).json, whose SHA-256 is \(digest).",
            parts
        ).html.text
    }

    private static func mark(_ verdict: DrillVerdict) -> Mark { verdict == .passed ? .pass : .fail }

    // MARK: Facts and outcome

    private var facts: Facts {
        var facts = Facts(isWide: true)
        facts.add("Drill", code: record.id)
        facts.add("Kind", record.isPlanned ? "planned" : "unannounced")
        facts.add("Begun", DrillText.moment(record.begun))
        facts.add("Ended", DrillText.moment(record.ended))
        facts.add(
            "Gateway",
            "PrivySeal \(record.gateway.version)"
                + (record.gateway.isTemporary ? ", made for this drill with throw-away keys" : ""))
        facts.add("Address", code: record.gateway.address)
        facts.add("Old key", code: record.oldKey)
        facts.add("New key", code: record.newKey)
        for participant in record.participants { facts.add("Took part", "\(participant.name), \(participant.role)") }
        return facts
    }

    private var outcome: PageSection {
        var parts: [any PagePart] = []
        if !record.complaints.isEmpty { parts.append(Note("Failed.", record.complaints.joined(separator: " "))) }
        var table = PageTable([
            .init("Measurement", width: 24), .init("Interval"), .init("Time", .number),
        ])
        for timing in DrillTiming.allCases {
            guard let milliseconds = record.timings[timing] else { continue }
            table.add(["\(timing.title)", "\(timing.meaning)", "\(Self.span(milliseconds))"])
        }
        if !table.rows.isEmpty { parts.append(table) }
        if record.deviations.isEmpty {
            parts.append(Paragraph("There were no deviations."))
        } else {
            parts.append(PageSection("Deviations", level: 3, [PageList(record.deviations)]))
        }
        return PageSection("Outcome", parts)
    }

    // MARK: Timeline

    private var course: PageSection {
        let load = record.load
        let keys = load.byKey.keys.sorted { first(of: $0) < first(of: $1) }
        let end = seconds(record.ended)
        let timeline = Timeline(
            caption: "Requests per second by signing key, the state of each key, and the steps by number.",
            duration: end, interval: Double(load.intervalLength) / 1000,
            series: keys.map { key in
                Timeline.Series(key, counts: load.intervals.map { Double($0.byKey[key] ?? 0) })
            },
            failures: load.intervals.map { Double($0.failed) },
            bands: record.keySpans.map { span in
                Timeline.Band(
                    span.keyID, span.state, from: max(0, seconds(span.begin)), to: min(end, seconds(span.end)),
                    isHollow: span.state == DrillRecord.KeyStateSpan.down)
            },
            events: record.steps.enumerated().map { number, step in
                Timeline.Event(at: max(0, seconds(step.begun)), "\(number + 1)")
            })
        return PageSection("Throughput and key over time", [timeline])
    }

    private func first(of key: String) -> Int {
        record.load.intervals.firstIndex { $0.byKey[key] != nil } ?? .max
    }

    private func seconds(_ time: Timestamp) -> Double {
        Double(time.milliseconds - record.begun.milliseconds) / 1000
    }

    // MARK: Steps

    private var steps: PageSection {
        var table = PageTable([
            .init("Step", .number, width: 5), .init("What was done, and what was expected", width: 37),
            .init("What happened"), .init("After", .number, width: 9), .init("Took", .number, width: 9),
            .init("", .mark),
        ])
        for (index, step) in record.steps.enumerated() {
            table.add(
                [
                    "\(index + 1)", "\(step.title)" + .small("Expected: \(step.expected)"), "\(step.actual)",
                    "\(Self.text(seconds(step.begun))) s",
                    "\(Self.span(Int(step.ended.milliseconds - step.begun.milliseconds)))",
                    Self.mark(step.verdict).badge(step.verdict.rawValue),
                ], isLoud: step.verdict == .failed)
        }
        let passed = record.steps.count { $0.verdict == .passed }
        return PageSection("Steps", aside: "\(passed) of \(record.steps.count) as expected", [table])
    }

    private static func text(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    private static func span(_ milliseconds: Int) -> String {
        milliseconds < 10_000 ? "\(milliseconds) ms" : "\(text(Double(milliseconds) / 1000)) s"
    }

    // MARK: Load and evidence

    private var load: PageSection {
        let load = record.load
        var table = PageTable([.init("Requests", width: 40), .init("Count", .number, width: 15), .init("Remark")])
        table.add(["Served, each signature verified", "\(load.served)", ""])
        for (key, count) in load.byKey.sorted(by: { $0.key < $1.key }) {
            table.add(["by \(HTML.code(key))", "\(count)", ""])
        }
        table.add(["Failed", "\(load.failed)", "\(reasons)"])
        table.add(
            ["Failed outside an outage of the drill", "\(load.unexcused)", "must be none"], isLoud: load.unexcused > 0)
        table.add(["Wrongly signed", "\(load.wronglySigned)", "must be none"], isLoud: load.wronglySigned > 0)
        return PageSection("Load", [table])
    }

    private var reasons: String {
        record.load.byReason.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
    }

    private var evidence: PageSection {
        var parts: [any PagePart] = []
        if !record.proofs.isEmpty {
            var table = PageTable([.init("Proof", width: 22), .init("Of", width: 18), .init("What"), .init("When")])
            for proof in record.proofs {
                table.add([
                    "\(proof.kind)", .code(proof.subject), .code(proof.detail), "\(DrillText.moment(proof.time))",
                ])
            }
            parts.append(table)
        }
        var file = Facts([("Record", "\(record.id).json")])
        file.add("Its SHA-256", code: digest)
        parts.append(file)
        if let audit = record.audit {
            var facts = Facts([("Audit log", "entries \(audit.first) to \(audit.last)")])
            let lines = audit.checkpoint.split(separator: "\n").map { HTML.code(String($0)) + "<br>" }
            facts.add("Checkpoint", HTML(lines))
            parts.append(facts)
        } else {
            parts.append(
                Note("No audit log.", "The gateway keeps none, so this record cannot be checked against it."))
        }
        return PageSection("Proofs and the audit log", parts)
    }

    // MARK: Comparison and signatures

    private var comparison: PageSection? {
        guard let predecessor else { return nil }
        let comparison = DrillComparison(earlier: predecessor, later: record)
        var table = PageTable([
            .init("", width: 34), .init(predecessor.id, .number), .init("This drill", .number), .init(""),
        ])
        table.add(["Verdict", "\(predecessor.verdict.rawValue)", "\(record.verdict.rawValue)", ""])
        for line in comparison.lines {
            table.add([
                "\(line.name)", "\(Self.text(line.earlier, line.unit))", "\(Self.text(line.later, line.unit))",
                "\(line.isWorse.map { $0 ? "worse" : "better" } ?? "")",
            ])
        }
        return PageSection("Comparison with the previous drill", [table])
    }

    private static func text(_ number: Int?, _ unit: String) -> String {
        number.map { unit == "ms" ? "\($0) ms" : "\($0)" } ?? "–"
    }

    private var signatures: PageSection {
        let people = record.participants
        return PageSection(
            "Signatures",
            [
                SignatureBoxes(
                    statement: "We were present, and this record describes what happened.",
                    [
                        SignatureBoxes.Signatory(
                            role: people.first?.role ?? "Drill leader", name: people.first?.name),
                        SignatureBoxes.Signatory(
                            role: people.dropFirst().first?.role ?? "Observer",
                            name: people.dropFirst().first?.name),
                    ])
            ])
    }
}
