/// Text with names for invisible characters.
enum VisibleText {
    /// The text with every invisible character written as `<U+…>`, so that no text moves a terminal's cursor.
    static func of(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { visible, scalar in
            if isVisible(scalar) {
                visible.unicodeScalars.append(scalar)
            } else {
                visible += "<\(codePoint(scalar))>"
            }
        }
    }

    /// A name for each character, such as `U+2063`; a visible ASCII character is shown in quotation marks.
    static func names(in text: String) -> String {
        text.unicodeScalars.map { (0x21...0x7E).contains($0.value) ? "\"\($0)\"" : codePoint($0) }
            .joined(separator: " ")
    }

    private static func codePoint(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: false
        case .spaceSeparator: scalar == " "
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
