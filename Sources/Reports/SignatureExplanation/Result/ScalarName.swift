enum ScalarName {
    /// A name such as `U+2063`; a visible ASCII character is shown in quotation marks.
    static func name(of scalar: Unicode.Scalar) -> String {
        (0x21...0x7E).contains(scalar.value) ? "\"\(scalar)\"" : hexadecimal(scalar)
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    static func list(_ text: String) -> String {
        text.unicodeScalars.map(name(of:)).joined(separator: " ")
    }
}

extension ScalarName {
    /// The text with every invisible character written as `<U+…>`, so that no field can move a terminal's cursor.
    static func visible(_ text: String) -> String {
        var visible = ""
        for scalar in text.unicodeScalars {
            if isVisible(scalar) {
                visible.unicodeScalars.append(scalar)
            } else {
                visible += "<\(hexadecimal(scalar))>"
            }
        }
        return visible
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: false
        case .spaceSeparator: scalar == " "
        default: !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
