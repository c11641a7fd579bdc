import SigningKit

/// Renders a drill record or a comparison as text for a terminal.
public enum DrillText {
    public static func text(_ record: DrillRecord) -> String {
        var lines = [
            "\(record.scenario.title): \(record.verdict == .passed ? "passed" : "FAILED")",
            "  drill        \(record.id), \(record.isPlanned ? "planned" : "unannounced")",
            "  when         \(moment(record.begun)) to \(moment(record.ended))",
            "  gateway      \(record.gateway.version) at \(record.gateway.address)"
                + (record.gateway.isTemporary ? ", made for this drill" : ""),
        ]
        lines += record.participants.map { "  took part    \($0.name), \($0.role)" }
        if let old = record.keys.old { lines.append("  old key      \(old)") }
        if let new = record.keys.new { lines.append("  new key      \(new)") }
        lines += record.complaints.map { "  why          \($0)" }
        lines.append("")
        for (index, step) in record.steps.enumerated() {
            let span = step.ended.milliseconds - step.begun.milliseconds
            lines.append("\(index + 1). \(step.title): \(step.verdict.rawValue), \(span) ms")
            lines.append("   expected  \(step.expected)")
            lines.append("   actual    \(step.actual)")
        }
        lines.append("")
        lines += DrillTiming.all.compactMap { timing in
            record.timings[keyPath: timing.value].map { "\(timing.title): \($0) ms (\(timing.meaning))" }
        }
        lines.append(load(record.load))
        lines += record.proofs.map { "Proof: \($0.kind) of \($0.subject) at \(moment($0.at)): \($0.detail)" }
        if let audit = record.audit {
            lines.append("Audit log: entries \(audit.first) to \(audit.last), and a checkpoint that covers them")
        }
        lines += record.deviations.map { "Deviation: \($0)" }
        return lines.joined(separator: "\n")
    }

    public static func text(_ comparison: DrillComparison) -> String {
        var lines = [
            comparison.later.scenario.title,
            row("", comparison.earlier.id, comparison.later.id, ""),
            row("Verdict", comparison.earlier.verdict.rawValue, comparison.later.verdict.rawValue, ""),
        ]
        lines += comparison.lines.map { line in
            row(line.name, line.text(line.earlier), line.text(line.later), line.mark)
        }
        lines += comparison.newDeviations.map { "New deviation: \($0)" }
        lines += comparison.goneDeviations.map { "No longer: \($0)" }
        return lines.joined(separator: "\n")
    }

    /// In UTC, to the second.
    static func moment(_ time: Timestamp) -> String {
        let text = time.text
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }

    static func load(_ load: LoadSummary) -> String {
        let keys = load.byKey.sorted { $0.key < $1.key }.map { "\($0.value) by \($0.key)" }.joined(separator: ", ")
        return "Requests: \(load.served) served\(keys.isEmpty ? "" : " (\(keys))"), \(load.failed) failed"
            + (load.failed == 0 ? "" : " (\(load.reasons); \(load.failedUnexcused) outside an outage)")
            + ", \(load.wronglySigned) wrongly signed"
    }

    private static func row(_ name: String, _ earlier: String, _ later: String, _ mark: String) -> String {
        let texts = [(name, 26), (earlier, 40), (later, 40)].map { text, width in
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        let line = texts.joined() + mark
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
