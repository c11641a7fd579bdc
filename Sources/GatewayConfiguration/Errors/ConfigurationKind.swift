/// The kinds of values that a configuration holds.
public enum ConfigurationKind: String, Sendable {
    case text
    case boolean = "true or false"
    case wholeNumber = "whole number"
    case list
    case mapping

    var article: String {
        switch self {
        case .text, .boolean: rawValue
        case .wholeNumber, .list, .mapping: "a " + rawValue
        }
    }
}
