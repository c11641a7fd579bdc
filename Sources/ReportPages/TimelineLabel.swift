/// Where the label of a step stands: in the first row in which it meets no other.
struct TimelineLabel {
    let text: String
    /// Of the step itself.
    let x: Double
    /// From above.
    let row: Int
    /// Whether the text is at the left of its mark, because there is no room at the right.
    let isLeft: Bool

    /// - Parameter right: where the drawing ends.
    static func laidOut(
        _ events: [Timeline.Event], on scale: TimelineScale, right: Double, letterWidth: Double
    ) -> [TimelineLabel] {
        /// What is taken in each row.
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
