public enum ConfigurationKind: String, Sendable {
    case text
    case boolean = "true or false"
    case wholeNumber = "whole number"
    case number
    case list
    case mapping

    var article: String {
        switch self {
        case .text, .boolean: rawValue
        case .wholeNumber, .number, .list, .mapping: "a " + rawValue
        }
    }
}
