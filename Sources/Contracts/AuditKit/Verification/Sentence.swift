enum Sentence {
    /// With a comma between thousands.
    static func number(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// `Entry 7`, or `Entries 7 to 9`.
    static func entries(_ entries: Range<Int>, isFirst: Bool = true) -> String {
        let text =
            entries.count == 1
            ? "entry \(number(entries.lowerBound))"
            : "entries \(number(entries.lowerBound)) to \(number(entries.upperBound - 1))"
        return isFirst ? "E" + text.dropFirst() : text
    }
}
