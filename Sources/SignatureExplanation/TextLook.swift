import SigningKit
import StrictJSON

/// What can be seen in a signed text that Apple accepts: characters that do not show, and white space where none belongs.
enum TextLook {
    static func findings(_ text: String, _ rule: TextRule, field: String) -> [Finding] {
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
