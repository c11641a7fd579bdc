import StrictJSON

/// A drill compared with an earlier one of the same scenario.
public struct DrillComparison: Sendable {
    /// A number that both drills may have.
    public struct Line: Sendable, Equatable {
        public var name: String
        public var unit: String
        public var earlier: Int?
        public var later: Int?
        /// Whether a lower number is better; nil if the number has no better direction.
        public var isBetterLow: Bool?

        /// Whether the later number is worse; nil if the numbers are equal or not comparable.
        public var isWorse: Bool? {
            guard let isBetterLow, let earlier, let later, earlier != later else { return nil }
            return isBetterLow == (later > earlier)
        }
    }

    public var earlier: DrillRecord
    public var later: DrillRecord

    public init(earlier: DrillRecord, later: DrillRecord) {
        self.earlier = earlier
        self.later = later
    }

    public var lines: [Line] {
        let timings = DrillTiming.all.compactMap { timing -> Line? in
            let (before, after) = (earlier.timings[keyPath: timing.value], later.timings[keyPath: timing.value])
            guard before != nil || after != nil else { return nil }
            return Line(name: timing.title, unit: "ms", earlier: before, later: after, isBetterLow: true)
        }
        return timings + [
            line("Served", "requests", \.load.served, isBetterLow: nil),
            line("Failed", "requests", \.load.failed),
            line("Failed outside an outage", "requests", \.load.unexcused),
            line("Wrongly signed", "requests", \.load.wronglySigned),
            line("Steps that failed", "steps", \.failedSteps),
        ]
    }

    private func line(
        _ name: String, _ unit: String, _ number: KeyPath<DrillRecord, Int>, isBetterLow: Bool? = true
    ) -> Line {
        Line(
            name: name, unit: unit, earlier: earlier[keyPath: number], later: later[keyPath: number],
            isBetterLow: isBetterLow)
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
            "scenario": later.scenario, "earlier": record(earlier), "later": record(later),
            "lines": lines.map { line -> JSONMembers in
                [
                    "name": line.name, "unit": line.unit, "earlier": line.earlier, "later": line.later,
                    "worse": line.isWorse,
                ]
            },
        ]
        try members.encode(to: encoder)
    }
}

extension DrillRecord {
    fileprivate var failedSteps: Int { steps.count { $0.verdict == .failed } }
}
