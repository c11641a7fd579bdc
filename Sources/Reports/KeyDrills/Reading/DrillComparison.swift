import StrictJSON

/// A drill compared with an earlier one of the same scenario.
public struct DrillComparison: Sendable {
    /// A number that both drills may have.
    struct Line: Encodable {
        let name, unit: String
        let earlier, later: Int?
        /// Whether the later number is worse; nil if the numbers are equal or not comparable.
        let worse: Bool?

        /// - Parameter isRated: Whether a lower number is better; otherwise no number is.
        init(_ name: String, _ unit: String, _ earlier: Int?, _ later: Int?, isRated: Bool = true) {
            (self.name, self.unit, self.earlier, self.later) = (name, unit, earlier, later)
            worse = if isRated, let earlier, let later, earlier != later { later > earlier } else { nil }
        }

        func text(_ number: Int?) -> String { number.map { "\($0) \(unit)" } ?? "–" }

        /// `worse`, `better` or nothing.
        var mark: String { worse.map { $0 ? "worse" : "better" } ?? "" }
    }

    public var earlier: DrillRecord
    public var later: DrillRecord

    public init(earlier: DrillRecord, later: DrillRecord) {
        self.earlier = earlier
        self.later = later
    }

    var lines: [Line] {
        let timings = DrillTiming.all.map { timing in
            Line(timing.title, "ms", earlier.timings[keyPath: timing.value], later.timings[keyPath: timing.value])
        }
        let (before, after) = (earlier.load, later.load)
        let failedSteps = { (record: DrillRecord) in record.steps.count { $0.verdict == .failed } }
        return timings.filter { $0.earlier != nil || $0.later != nil } + [
            Line("Served", "requests", before.served, after.served, isRated: false),
            Line("Failed", "requests", before.failed, after.failed),
            Line("Failed outside an outage", "requests", before.failedUnexcused, after.failedUnexcused),
            Line("Wrongly signed", "requests", before.wronglySigned, after.wronglySigned),
            Line("Steps that failed", "steps", failedSteps(earlier), failedSteps(later)),
        ]
    }

    /// The deviations that only one of the drills has.
    public var newDeviations: [String] { later.deviations.filter { !earlier.deviations.contains($0) } }
    public var goneDeviations: [String] { earlier.deviations.filter { !later.deviations.contains($0) } }
}

extension DrillComparison: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let record = { (record: DrillRecord) -> JSONMembers in
            ["id": record.id, "verdict": record.verdict, "deviations": record.deviations]
        }
        let members: JSONMembers = [
            "scenario": later.scenario, "earlier": record(earlier), "later": record(later), "lines": lines,
        ]
        try members.encode(to: encoder)
    }
}
