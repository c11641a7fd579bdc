/// A quoted CSS string (CSS Syntax Level 3 §4.3.7). Controls become spaces, and all but ASCII letters, digits and
/// spaces become hexadecimal escapes. The text can then end neither the string nor the style element.
enum CSSText {
    static func quoted(_ text: String) -> HTML {
        var result: HTML = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", " ": result += HTML(escaping: String(scalar))
            case _ where scalar.value < 0x20: result += " "
            default: result += "\\\(String(scalar.value, radix: 16)) "
            }
        }
        return result + "\""
    }
}
