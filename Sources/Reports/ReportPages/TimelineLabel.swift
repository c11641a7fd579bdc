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
