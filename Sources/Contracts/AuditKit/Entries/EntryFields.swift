public import SigningKit
import StrictJSON

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

    /// All members in their order, their values as JSON.
    var all: [(name: String, value: [UInt8])] {
        members.map { (String(decoding: body[$0.name], as: UTF8.self), Array(body[$0.value])) }
    }

    /// Whether the bytes are one line. Canonical bytes have no control characters.
    var isLine: Bool { body.allSatisfy { $0 >= 0x20 } }

    // MARK: Members of every entry

    public var kind: String? { text("kind") }

    public var time: Timestamp? { self["time"].flatMap { Timestamp(rfc3339: $0.dropFirst().dropLast()) } }

    // MARK: Search

    /// The entry's values for a term; most entries have one or none.
    public func values(of term: AuditTerm) -> [String] {
        switch term {
        case .client: list("client")
        case .app: list("app")
        case .feature: list("feature")
        case .product: texts("products")
        case .offer: texts("offers")
        case .key: list("key")
        case .outcome: outcomes
        case .requestID: list("requestId")
        case .kind: list("kind")
        case .user: list("user")
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

    private func list(_ name: StaticString) -> [String] { text(name).map { [$0] } ?? [] }

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
}

/// Scans canonical JSON, which has no white space. The scan ends at the first byte that does not fit.
struct EntryScanner {
    /// The byte ranges of an object's member. The name's range excludes the quotation marks.
    struct Member {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The scan reads each byte several times, and array bounds checks would double its time. `peek` never reads beyond
    /// the last byte, and every range returned ends at or before `bytes.count`.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The members of an object. Nil unless the object is all of the bytes.
    static func members(of object: [UInt8]) -> [Member]? {
        object.withUnsafeBufferPointer { bytes in
            var scanner = EntryScanner(bytes)
            return scanner.members()
        }
    }

    private mutating func members() -> [Member]? {
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [Member] = []
        members.reserveCapacity(16)
        if take(UInt8(ascii: "}")) { return position == bytes.count ? members : nil }
        repeat {
            guard let name = string(), take(UInt8(ascii: ":")), let value = value() else { return nil }
            members.append(Member(name: name.lowerBound + 1..<name.upperBound - 1, value: value))
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) && position == bytes.count ? members : nil
    }

    /// The elements of a list; empty if the bytes are not a list.
    static func elements(of list: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let places = list.withUnsafeBufferPointer { bytes -> [Range<Int>] in
            var scanner = EntryScanner(bytes)
            guard scanner.take(UInt8(ascii: "[")), scanner.peek != UInt8(ascii: "]") else { return [] }
            var places: [Range<Int>] = []
            repeat {
                guard let place = scanner.value() else { return [] }
                places.append(place)
            } while scanner.take(UInt8(ascii: ","))
            return places
        }
        return places.map { list[list.startIndex + $0.lowerBound..<list.startIndex + $0.upperBound] }
    }

    /// The decoded content of a JSON string.
    static func text(_ string: ArraySlice<UInt8>) -> String? {
        guard string.count >= 2, string.first == UInt8(ascii: "\""), string.last == UInt8(ascii: "\"") else {
            return nil
        }
        let inside = string.dropFirst().dropLast()
        guard inside.contains(UInt8(ascii: "\\")) else { return String(decoding: inside, as: UTF8.self) }
        return try? JSONDocument(parsing: Array(string)).root.string()
    }

    // MARK: Parsing

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    /// The range of a string, with its quotation marks.
    private mutating func string() -> Range<Int>? {
        let start = position
        guard take(UInt8(ascii: "\"")) else { return nil }
        while let byte = peek {
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<position }
        }
        return nil
    }

    private mutating func value() -> Range<Int>? {
        switch peek {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "{"), UInt8(ascii: "["): container()
        default: scalar()
        }
    }

    /// The range up to the matching closing bracket. In canonical bytes the scan need not distinguish `}` from `]`.
    private mutating func container() -> Range<Int>? {
        let start = position
        var depth = 0
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { return start..<position }
        }
        return nil
    }

    private mutating func scalar() -> Range<Int>? {
        let start = position
        while let byte = peek, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]") {
            position += 1
        }
        return position > start ? start..<position : nil
    }
}

extension EntryFields {
    /// The text form of a value: the content of a string, the elements of a list, the members of an object, or
    /// otherwise the JSON. Values nested too deeply for an entry stay JSON, too.
    ///
    /// - Parameter depth: the number of nesting levels to expand.
    static func text(of value: [UInt8], depth: Int = 4) -> String {
        let json = String(decoding: value, as: UTF8.self)
        guard depth > 0 else { return json }
        return switch value.first {
        case UInt8(ascii: "\""): EntryScanner.text(value[...]) ?? json
        case UInt8(ascii: "["):
            EntryScanner.elements(of: value[...]).map { text(of: Array($0), depth: depth - 1) }
                .joined(separator: ", ")
        case UInt8(ascii: "{"):
            (EntryFields(value)?.all ?? []).map { "\($0.name) \(text(of: $0.value, depth: depth - 1))" }
                .joined(separator: ", ")
        default: json
        }
    }
}
