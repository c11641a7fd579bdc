import SigningKit
import StrictJSON

/// Findings about the text of a field or claim.
enum TextProperties {
    /// - Parameter subject: The field in messages, such as `The claim "bid"`.
    static func findings(_ text: String, _ rule: TextRule, field: String, subject: String) -> [Finding] {
        switch text {
        case "": [Finding(.fieldEmpty, field: field, "\(subject) is empty.")]
        case "undefined": [Finding(.fieldUndefined, field: field, "\(subject) is the text \"undefined\".")]
        case "null", "nil", "None", "(null)", "NULL":
            [Finding(.fieldNull, field: field, "\(subject) is the text \"\(text)\".")]
        default: warnings(text, rule, field: field)
        }
    }

    /// Warnings about a signed text that Apple accepts: invisible characters, and misplaced white space.
    static func warnings(_ text: String, _ rule: TextRule, field: String) -> [Finding] {
        do { try rule.check(text) } catch {
            let isWhiteSpace = rule.whiteSpaceFault(in: text).map { error.reason == .invalid($0) } ?? false
            return [
                Finding(
                    isWhiteSpace ? .fieldWhiteSpace : .fieldInvisible, .warning, field: field, "\(error.inside(field))")
            ]
        }
        return []
    }
}
