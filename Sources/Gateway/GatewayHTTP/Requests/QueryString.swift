import Encodings
import SigningKit

/// The parameters of a query: percent-encoded UTF-8 with `+` for a space, as the framework of the reference example
/// decodes them. Unlike there, a parameter may occur only once.
struct QueryString {
    private var values: [ExactText: String] = [:]
    /// In the order of the query.
    private(set) var names: [String] = []

    init(_ query: String?) throws(Problem) {
        for pair in (query ?? "").split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            let value = pair.dropFirst(name.utf8.count + 1)
            guard let name = Self.decode(name), let value = Self.decode(value) else {
                throw Problem(
                    .invalidParameter, "The parameter \"\(name)\" is not percent-encoded UTF-8.", field: "\(name)")
            }
            guard values.updateValue(value, forKey: ExactText(name)) == nil else {
                throw Problem(.invalidParameter, "The parameter \"\(name)\" occurs twice; send it once.", field: name)
            }
            names.append(name)
        }
    }

    subscript(name: String) -> String? { values[ExactText(name)] }

    func required(_ name: String) throws(Problem) -> String {
        guard let value = values[ExactText(name)] else {
            throw Problem(.missingParameter, "The parameter \"\(name)\" is missing; it is required.", field: name)
        }
        return value
    }

    private static func decode(_ text: Substring) -> String? {
        PercentEncoding.decode(text.utf8.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
