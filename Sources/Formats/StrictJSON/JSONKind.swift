/// The kinds of value in RFC 8259 §3.
public enum JSONKind: UInt8, Sendable {
    case object, array, string, number, boolean, null

    var withArticle: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "a Boolean"
        case .null: "null"
        }
    }
}
