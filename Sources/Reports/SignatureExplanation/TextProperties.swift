import SigningKit
import StrictJSON

/// Warnings about a signed text that Apple accepts: invisible characters, and misplaced white space.
enum TextProperties {
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
