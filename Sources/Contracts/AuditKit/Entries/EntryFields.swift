public import SigningKit
import StrictJSON

/// The members of an entry.
public struct EntryFields: Sendable {
    private let object: JSONObject

    /// Nil unless the bytes are one JSON object without white space around it.
    public init?(_ body: [UInt8]) {
        guard body.first == UInt8(ascii: "{"), body.last == UInt8(ascii: "}"),
            let object = try? JSONDocument(parsing: body).root.anyObject()
        else { return nil }
        self.object = object
    }

    /// As `init(_:)`, but nil unless the bytes are one line, as canonical bytes are.
    init?(line body: [UInt8]) {
        guard body.allSatisfy({ $0 >= 0x20 }) else { return nil }
        self.init(body)
    }

    /// Nil unless the member is a string.
    public func text(_ name: String) -> String? { try? object[name]?.string() }

    /// The elements of a list of strings; empty if the member is not a list.
    public func texts(_ name: String) -> [String] { object[name].map(Self.texts) ?? [] }

    static func texts(_ list: JSONValue) -> [String] { ((try? list.elements()) ?? []).compactMap { try? $0.string() } }

    public func integer(_ name: String) -> Int? { object[name].flatMap(Self.integer) }

    private static func integer(_ value: JSONValue) -> Int? { (try? value.integer()).map { Int($0) } }

    /// The members of an object of integers, such as `counts`.
    public func numbers(_ name: String) -> [(name: String, number: Int)] {
        let members = try? object[name]?.anyObject().members
        return (members ?? []).compactMap { name, value in Self.integer(value).map { (name, $0) } }
    }

    /// All members in their order.
    var all: [(name: String, value: JSONValue)] { object.members }

    // MARK: Members of every entry

    public var kind: String? { text("kind") }

    public var time: Timestamp? { object["time"].flatMap { Timestamp(rfc3339: $0.rawBytes.dropFirst().dropLast()) } }

    // MARK: Search

    /// The entry's values for a term; most entries have one or none.
    public func values(of term: AuditTerm) -> [String] {
        switch term {
        case .product: texts("products")
        case .offer: texts("offers")
        case .outcome: outcomes
        case .lifetime: text("expires") == nil ? [] : [LongLivedToken.term]
        case .client, .app, .feature, .key, .requestID, .kind, .user: list(term.rawValue)
        }
    }

    private var outcomes: [String] {
        switch kind {
        case "signature": ["signed"]
        case "refusal": list("reason")
        case "refusals": numbers("counts").map(\.name)
        default: [text("outcome") ?? text("state") ?? text("event") ?? text("change")].compactMap(\.self)
        }
    }

    private func list(_ name: String) -> [String] { text(name).map { [$0] } ?? [] }

    /// Whether the entry matches the query.
    public func match(_ query: AuditQuery) -> Bool {
        if query.since != nil || query.until != nil {
            guard let time else { return false }
            if let since = query.since, time < since { return false }
            if let until = query.until, time >= until { return false }
        }
        // Compare bytes: `==` treats two encodings of an accented letter as equal.
        return query.terms.allSatisfy { term, wanted in values(of: term).contains { $0.hasSameBytes(as: wanted) } }
    }

    /// The text form of a value: the content of a string, the elements of a list, the members of an object, or
    /// otherwise the JSON. Values nested too deeply for an entry stay JSON, too.
    ///
    /// - Parameter depth: the number of nesting levels to expand.
    static func text(of value: JSONValue, depth: Int = 4) -> String {
        if let text = try? value.string() { return text }
        if depth > 0, let elements = try? value.elements() {
            return elements.map { text(of: $0, depth: depth - 1) }.joined(separator: ", ")
        }
        if depth > 0, let object = try? value.anyObject() {
            return object.members.map { "\($0.name) \(text(of: $0.value, depth: depth - 1))" }.joined(separator: ", ")
        }
        return json(value)
    }

    static func json(_ value: JSONValue) -> String { String(decoding: value.rawBytes, as: UTF8.self) }
}
