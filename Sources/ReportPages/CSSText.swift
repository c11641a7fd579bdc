/// A text as a string of CSS (CSS Syntax Level 3 §4.3.7), in quotation marks: everything but letters, digits and blanks
/// is a hexadecimal escape, so that it can end neither the string nor the style element.
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
