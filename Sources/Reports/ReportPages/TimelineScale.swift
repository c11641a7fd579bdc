/// Maps numbers to coordinates, and chooses the ticks of an axis.
struct TimelineScale {
    /// The number at the end of the axis, above 0.
    let end: Double
    /// In the drawing's units; `length` may be negative.
    let origin: Double
    let length: Double

    /// Clamps a number outside the axis to the nearer end, and maps a number that is not finite to `origin`.
    func place(_ number: Double) -> Double {
        origin + length * (number.isFinite ? min(max(number / end, 0), 1) : 0)
    }

    /// 1, 2 or 5 times a power of ten, so that `end` has about `count` steps.
    static func step(for end: Double, count: Double) -> Double {
        let rough = end / count
        guard (1e-9...1e15).contains(rough) else { return max(end, 1) }
        var power = 1.0
        while power * 10 <= rough { power *= 10 }
        while power > rough { power /= 10 }
        return power * ([1.0, 2, 5].first { power * $0 >= rough } ?? 10)
    }

    static func ticks(to end: Double, step: Double) -> [Double] {
        (0...Int(min(max(end / step + 1e-6, 0), 50))).map { Double($0) * step }
    }
}

/// The position of a step's label: the first row in which it overlaps no other label.
struct TimelineLabel {
    let text: String
    /// The x coordinate of the step.
    let x: Double
    /// Counted from the top.
    let row: Int
    /// Whether the text is to the left of its mark, because it does not fit to the right.
    let isLeft: Bool

    /// - Parameter right: The right end of the drawing.
    static func laidOut(
        _ events: [Timeline.Event], on scale: TimelineScale, right: Double, letterWidth: Double
    ) -> [TimelineLabel] {
        var rows: [[ClosedRange<Double>]] = []
        return events.sorted { $0.at < $1.at }.map { event in
            let x = scale.place(event.at)
            let width = Double(event.label.count) * letterWidth + 10
            let isLeft = x + width > right && x - width > 0
            let taken = isLeft ? (x - width)...(x + 5) : (x - 5)...(x + width)
            let row = rows.firstIndex { !$0.contains { $0.overlaps(taken) } } ?? rows.count
            if row == rows.count { rows.append([]) }
            rows[row].append(taken)
            return TimelineLabel(text: event.label, x: x, row: row, isLeft: isLeft)
        }
    }
}
