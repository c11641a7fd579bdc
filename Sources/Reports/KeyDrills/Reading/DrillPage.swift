import Foundation
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
        ReportPage.html(
            kind: "Drill record", title: record.scenario.title, subject: record.scenario.summary,
            verdict: Self.mark(record.verdict), verdictText: record.verdict.rawValue, facts: facts,
            reference: record.id,
            closing: "Drill \(record.id). This page was made from \(record.id).json, whose SHA-256 is \(digest).",
            [outcome, course, steps, load, evidence, comparison, signatures]
        ).text
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
        facts.add("Old key", code: record.keys.old)
        facts.add("New key", code: record.keys.new)
        for participant in record.participants { facts.add("Took part", "\(participant.name), \(participant.role)") }
        return facts
    }

    private var outcome: HTML {
        var parts: [HTML] = []
        if !record.complaints.isEmpty { parts.append(.note("Failed.", record.complaints.joined(separator: " "))) }
        var table = PageTable([
            .init("Measurement", width: 24), .init("Interval"), .init("Time", .number),
        ])
        for timing in DrillTiming.all {
            guard let milliseconds = record.timings[keyPath: timing.value] else { continue }
            table.add(["\(timing.title)", "\(timing.meaning)", "\(Self.span(milliseconds))"])
        }
        if !table.isEmpty { parts.append(table.html) }
        if record.deviations.isEmpty {
            parts.append(.paragraph("There were no deviations."))
        } else {
            parts.append(.section("Deviations", isSubsection: true, [.list(record.deviations)]))
        }
        return .section("Outcome", parts)
    }

    // MARK: Timeline

    private var course: HTML {
        let load = record.load
        let keys = load.byKey.keys.sorted { first(of: $0) < first(of: $1) }
        let end = seconds(record.ended)
        let timeline = Timeline(
            caption: "Requests per second by signing key, the state of each key, and the steps by number.",
            duration: end, interval: Double(load.intervalMs) / 1000,
            series: keys.map { key in
                (key, load.intervals.map { Double($0.byKey[key] ?? 0) })
            },
            failures: load.intervals.map { Double($0.failed) },
            bands: record.keys.states.map { span in
                (
                    span.keyID, span.state, max(0, seconds(span.begin)), min(end, seconds(span.end)),
                    isHollow: span.state == KeyStateSpan.down
                )
            },
            events: record.steps.enumerated().map { number, step in
                (max(0, seconds(step.begun)), "\(number + 1)")
            })
        return .section("Throughput and key over time", [timeline.html])
    }

    private func first(of key: String) -> Int {
        record.load.intervals.firstIndex { $0.byKey[key] != nil } ?? .max
    }

    private func seconds(_ time: Timestamp) -> Double {
        Double(time.milliseconds - record.begun.milliseconds) / 1000
    }

    // MARK: Steps

    private var steps: HTML {
        var table = PageTable([
            .init("Step", .number, width: 5), .init("What was done, and what was expected", width: 37),
            .init("What happened"), .init("After", .number, width: 9), .init("Took", .number, width: 9),
            .init("", .mark),
        ])
        for (index, step) in record.steps.enumerated() {
            table.add(
                [
                    "\(index + 1)", "\(step.title)" + .small("Expected: \(step.expected)"), "\(step.actual)",
                    "\(Self.text(seconds(step.begun)))",
                    "\(Self.span(Int(step.ended.milliseconds - step.begun.milliseconds)))",
                    Self.mark(step.verdict).badge(step.verdict.rawValue),
                ], isLoud: step.verdict == .failed)
        }
        let passed = record.steps.count { $0.verdict == .passed }
        return .section("Steps", aside: "\(passed) of \(record.steps.count) as expected", [table.html])
    }

    private static func text(_ seconds: Double) -> String { String(format: "%.1f s", seconds) }

    private static func span(_ milliseconds: Int) -> String {
        milliseconds < 10_000 ? "\(milliseconds) ms" : text(Double(milliseconds) / 1000)
    }

    // MARK: Load and evidence

    private var load: HTML {
        let load = record.load
        var table = PageTable([.init("Requests", width: 40), .init("Count", .number, width: 15), .init("Remark")])
        table.add(["Served, each signature verified", "\(load.served)", ""])
        for (key, count) in load.byKey.sorted(by: { $0.key < $1.key }) {
            table.add(["by \(HTML.code(key))", "\(count)", ""])
        }
        table.add(["Failed", "\(load.failed)", "\(load.reasons)"])
        table.add(
            ["Failed outside an outage of the drill", "\(load.failedUnexcused)", "must be none"],
            isLoud: load.failedUnexcused > 0)
        table.add(["Wrongly signed", "\(load.wronglySigned)", "must be none"], isLoud: load.wronglySigned > 0)
        return .section("Load", [table.html])
    }

    private var evidence: HTML {
        var parts: [HTML] = []
        if !record.proofs.isEmpty {
            var table = PageTable([.init("Proof", width: 22), .init("Of", width: 18), .init("What"), .init("When")])
            for proof in record.proofs {
                table.add([
                    "\(proof.kind)", .code(proof.subject), .code(proof.detail), "\(DrillText.moment(proof.at))",
                ])
            }
            parts.append(table.html)
        }
        var facts = Facts()
        facts.add("Record", "\(record.id).json")
        facts.add("Its SHA-256", code: digest)
        if let audit = record.audit {
            facts.add("Audit log", "entries \(audit.first) to \(audit.last)")
            let lines = audit.checkpoint.split(separator: "\n").map { HTML.code(String($0)) + "<br>" }
            facts.add("Checkpoint", HTML(lines))
        }
        parts.append(facts.html)
        if record.audit == nil {
            parts.append(
                .note("No audit log.", "The gateway keeps none, so this record cannot be checked against it."))
        }
        return .section("Proofs and the audit log", parts)
    }

    // MARK: Comparison and signatures

    private var comparison: HTML {
        guard let predecessor else { return "" }
        let comparison = DrillComparison(earlier: predecessor, later: record)
        var table = PageTable([
            .init("", width: 34), .init(predecessor.id, .number), .init("This drill", .number), .init(""),
        ])
        table.add(["Verdict", "\(predecessor.verdict.rawValue)", "\(record.verdict.rawValue)", ""])
        for line in comparison.lines {
            table.add([
                "\(line.name)", "\(line.text(line.earlier))", "\(line.text(line.later))", "\(line.mark)",
            ])
        }
        return .section("Comparison with the previous drill", [table.html])
    }

    private var signatures: HTML {
        let leader = record.participants.first
        let observer = record.participants.dropFirst().first
        let boxes = HTML.signatureBoxes(
            "We were present, and this record describes what happened.",
            [(leader?.role ?? "Drill leader", leader?.name), (observer?.role ?? "Observer", observer?.name)])
        return .section("Signatures", [boxes])
    }
}
