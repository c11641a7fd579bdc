import Encodings
import SigningKit

/// The parameters of a query: percent-encoded UTF-8 with `+` for a space, as the framework of the reference example
/// decodes them. Unlike there, a parameter may occur only once.
struct QueryString {
    private var values: [ExactText: String] = [:]
    /// In the order of the query.
    private(set) var names: [String] = []

    init(_ query: String?) throws(Problem) {
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair[name.endIndex...].dropFirst()
            guard let name = Self.decode(name), let value = Self.decode(value) else {
                throw Problem(
                    .invalidParameter, "The parameter \"\(Substring(name))\" is not percent-encoded UTF-8.",
                    field: "\(Substring(name))")
            }
            guard values.updateValue(value, forKey: ExactText(name)) == nil else {
                throw Problem(.invalidParameter, "The parameter \"\(name)\" occurs twice; send it once.", field: name)
            }
            names.append(name)
        }
    }

    /// - Parameter known: the only parameters that the query may have.
    init(_ query: String?, allowing known: [String]) throws(Problem) {
        try self.init(query)
        guard let unknown = names.first(where: { !known.containsExactly($0) }) else { return }
        let all =
            switch known.count {
            case 0: "this path has no parameters"
            case 1: "the only one is \(known[0])"
            default: "the parameters are \(known.joined(separator: ", "))"
            }
        throw Problem(
            .invalidParameter, "The parameter \"\(unknown)\" is not known here; \(all).", field: unknown)
    }

    subscript(name: String) -> String? { values[ExactText(name)] }

    func required(_ name: String) throws(Problem) -> String {
        guard let value = self[name] else {
            throw Problem(.missingParameter, "The parameter \"\(name)\" is missing; it is required.", field: name)
        }
        return value
    }

    /// - Parameter expected: completes the sentence "The parameter must be …".
    /// - Returns: nil if the parameter is absent.
    func optional<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        if let value = read(text) { return value }
        throw Problem(.invalidParameter, "The parameter \"\(name)\" must be \(expected).", field: name)
    }

    private static func decode(_ text: Substring.UTF8View) -> String? {
        PercentEncoding.decode(text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
