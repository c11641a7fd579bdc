/// Makes text safe for a terminal. Characters that move the cursor, break the line, hide text or change its direction
/// become escapes, because callers choose some values and a database may have been changed.
public enum PlainText {
    public static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: needsEscape) else { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if needsEscape(scalar) {
                plain += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                plain.unicodeScalars.append(scalar)
            }
        }
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}

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

    /// A sentence that begins with the entries.
    ///
    /// - Parameters:
    ///   - one: the rest of the sentence for one entry.
    ///   - more: the rest of the sentence for several.
    static func entries(_ entries: Range<Int>, _ one: String, _ more: String) -> String {
        "\(Self.entries(entries)) \(entries.count == 1 ? one : more)"
    }
}
