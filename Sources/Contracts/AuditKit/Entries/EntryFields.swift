public import SigningKit

/// Finds members in an entry's canonical bytes without decoding the others. In other bytes it may miss members.
public struct EntryFields: Sendable {
    public let body: [UInt8]
    private let members: [EntryScanner.Member]

    /// Nil unless the bytes are an object in canonical form.
    public init?(_ body: [UInt8]) {
        guard let members = EntryScanner.members(of: body) else { return nil }
        self.body = body
        self.members = members
    }

    /// The member's value, as JSON.
    public subscript(_ name: StaticString) -> ArraySlice<UInt8>? {
        members.first { has(name, at: $0.name) }.map { body[$0.value] }
    }

    private func has(_ name: StaticString, at place: Range<Int>) -> Bool {
        guard place.count == name.utf8CodeUnitCount else { return false }
        return body.withUnsafeBufferPointer { body in
            name.withUTF8Buffer { UnsafeBufferPointer(rebasing: body[place]).elementsEqual($0) }
        }
    }

    /// Nil unless the member is a string.
    public func text(_ name: StaticString) -> String? { self[name].flatMap(EntryScanner.text) }

    /// The elements of a list of strings; empty if the member is not a list.
    public func texts(_ name: StaticString) -> [String] {
        guard let value = self[name] else { return [] }
        return EntryScanner.elements(of: value).compactMap(EntryScanner.text)
    }

    public func integer(_ name: StaticString) -> Int? {
        self[name].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    /// The members of an object of integers, such as `counts`.
    public func numbers(_ name: StaticString) -> [(name: String, number: Int)] {
        guard let value = self[name] else { return [] }
        let bytes = Array(value)
        return (EntryScanner.members(of: bytes) ?? []).compactMap { member in
            guard let number = Int(String(decoding: bytes[member.value], as: UTF8.self)) else { return nil }
            return (String(decoding: bytes[member.name], as: UTF8.self), number)
        }
    }

    // MARK: Members of every entry

    public var kind: String? { text("kind") }

    public var time: Timestamp? { self["time"].flatMap { Timestamp(rfc3339: $0.dropFirst().dropLast()) } }

    // MARK: Search

    /// The entry's values for a term; most entries have one or none.
    public func values(of term: AuditTerm) -> [String] {
        switch term {
        case .client: [text("client")].compactMap(\.self)
        case .app: [text("app")].compactMap(\.self)
        case .feature: [text("feature")].compactMap(\.self)
        case .product: texts("products")
        case .offer: texts("offers")
        case .key: [text("key")].compactMap(\.self)
        case .outcome: outcomes
        case .requestID: [text("requestId")].compactMap(\.self)
        case .kind: [kind].compactMap(\.self)
        case .user: [text("user")].compactMap(\.self)
        }
    }

    private var outcomes: [String] {
        switch kind {
        case "signature": ["signed"]
        case "refusal": [text("reason")].compactMap(\.self)
        case "refusals": numbers("counts").map(\.name)
        default: [text("outcome") ?? text("state") ?? text("event") ?? text("change")].compactMap(\.self)
        }
    }

    /// Whether the entry matches the query.
    public func match(_ query: AuditQuery) -> Bool {
        if query.since != nil || query.until != nil {
            guard let time else { return false }
            if let since = query.since, time < since { return false }
            if let until = query.until, time >= until { return false }
        }
        // Compare bytes: `==` treats two encodings of an accented letter as equal.
        return query.terms.allSatisfy { term, wanted in
            values(of: term).contains { $0.utf8.elementsEqual(wanted.utf8) }
        }
    }
}
