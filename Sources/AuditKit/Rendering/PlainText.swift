/// Texts as a terminal may get them: what could move the cursor, break the line, hide or turn characters around is
/// written as an escape, because values come from callers and a database may have been changed.
public enum PlainText {
    public static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isTreacherous) else { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if isTreacherous(scalar) {
                plain += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                plain.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isTreacherous(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: false
        }
    }
}
