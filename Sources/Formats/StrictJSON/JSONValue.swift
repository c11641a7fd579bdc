/// A value of a `JSONDocument`. A reader gets exactly the kind that it asks for: nothing is converted.
public struct JSONValue: Sendable {
    let document: JSONDocument
    let index: Int

    var node: JSONNode { document.nodes[index] }

    public var kind: JSONKind { node.kind }

    /// The value's original bytes, without surrounding white space.
    public var rawBytes: ArraySlice<UInt8> { document.bytes[Int(node.start)..<Int(node.end)] }

    public func string() throws(JSONReadError) -> String {
        try require(.string)
        return document.string(of: node)
    }

    /// An integer without fraction or exponent: `1.0` and `1e3` are refused.
    public func integer() throws(JSONReadError) -> Int64 {
        try require(.number)
        let digits = String(decoding: rawBytes, as: UTF8.self)
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }) else {
            throw JSONReadError(.invalid("is \(digits.excerpt); it must be an integer, without fraction or exponent"))
        }
        guard let integer = Int64(digits) else {
            throw JSONReadError(.invalid("does not fit into 64 bits"))
        }
        return integer
    }

    public func boolean() throws(JSONReadError) -> Bool {
        try require(.boolean)
        return document.bytes[Int(node.start)] == UInt8(ascii: "t")
    }

    /// The value as an object. It refuses members that are not in `members`.
    public func object(members: [String]) throws(JSONReadError) -> JSONObject {
        let object = try anyObject()
        try object.refuseUnknown(besides: members)
        return object
    }

    public func anyObject() throws(JSONReadError) -> JSONObject {
        try require(.object)
        return JSONObject(document: document, index: index)
    }

    public func elements() throws(JSONReadError) -> [JSONValue] {
        try require(.array)
        var elements: [JSONValue] = []
        var child = index + 1
        while child < Int(node.next) {
            elements.append(JSONValue(document: document, index: child))
            child = Int(document.nodes[child].next)
        }
        return elements
    }

    /// Reads each element of an array. An error names the element's index.
    public func elements<Element>(
        _ read: (JSONValue) throws(JSONReadError) -> Element
    ) throws(JSONReadError) -> [Element] {
        var result: [Element] = []
        for (index, element) in try elements().enumerated() {
            do { result.append(try read(element)) } catch { throw error.inside(index: index) }
        }
        return result
    }

    private func require(_ expected: JSONKind) throws(JSONReadError) {
        guard kind == expected else { throw JSONReadError(.wrongKind(expected: expected, found: kind)) }
    }
}

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

/// A type that reads itself from a JSON value, and refuses all unknown members. Off the signing path, types are
/// `Decodable`; see `JSONValue.decode`.
public protocol JSONReadable {
    init(from value: JSONValue) throws(JSONReadError)
}

/// The members of an object. Every error names the member.
public struct JSONObject: Sendable {
    let document: JSONDocument
    let index: Int

    /// The value of a member, of any kind; nil if the member is absent.
    public subscript(name: String) -> JSONValue? {
        firstMember { isName($0, name) }.map { JSONValue(document: document, index: $0 + 1) }
    }

    /// The node of the first name that matches.
    private func firstMember(where matches: (Int) -> Bool) -> Int? {
        var member = index + 1
        let end = Int(document.nodes[index].next)
        while member < end {
            if matches(member) { return member }
            member = Int(document.nodes[member + 1].next)
        }
        return nil
    }

    func hasMore(than count: Int) -> Bool {
        var seen = 0
        return firstMember { _ in
            seen += 1
            return seen > count
        } != nil
    }

    public var names: [String] { members.map(\.name) }

    /// Names and values, in the order of the text.
    public var members: [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        var member = index + 1
        while member < Int(document.nodes[index].next) {
            let value = JSONValue(document: document, index: member + 1)
            members.append((document.string(of: document.nodes[member]), value))
            member = Int(value.node.next)
        }
        return members
    }

    public func required<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value {
        guard let value = self[name] else { throw JSONReadError(.missing, at: name) }
        do { return try read(value) } catch { throw error.inside(name) }
    }

    /// Reads a member that may be absent. Null does not count as absent: it is a value of the wrong kind.
    public func optional<Value>(
        _ name: String, _ read: (JSONValue) throws(JSONReadError) -> Value
    ) throws(JSONReadError) -> Value? {
        guard let value = self[name] else { return nil }
        do { return try read(value) } catch { throw error.inside(name) }
    }

    func refuseUnknown(besides known: [String]) throws(JSONReadError) {
        let unknown = firstMember { member in !known.contains { isName(member, $0) } }
        guard let unknown else { return }
        throw JSONReadError(.unknown(known: known), at: document.string(of: document.nodes[unknown]).excerpt)
    }

    private func isName(_ member: Int, _ name: String) -> Bool {
        let node = document.nodes[member]
        guard !node.isEscaped else { return document.characters(of: node).elementsEqual(name.utf8) }
        guard Int(node.end - node.start) - 2 == name.utf8.count else { return false }
        var name = name
        return name.withUTF8 { name in
            let start = Int(node.start) + 1
            return name.indices.allSatisfy { name[$0] == document.bytes[start + $0] }
        }
    }
}

/// A JSON text, parsed once and found well-formed (RFC 8259), with its original bytes.
///
/// It is stricter than most parsers, because two lenient parsers can read one text differently. Members are unique,
/// UTF-8 is valid, surrogates are paired. There is no byte order mark, and nothing follows the value.
public final class JSONDocument: Sendable {
    /// The default limit of nested objects and arrays.
    public static let defaultMaximumDepth = 32
    /// In bytes; requests are far smaller.
    public static let maximumLength = 64 << 20

    let bytes: [UInt8]
    /// The values by first byte. A member is two nodes: its name, then its value.
    let nodes: [JSONNode]

    public init(parsing bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes, maximumDepth: maximumDepth)
        try parser.parse()
        self.bytes = bytes
        nodes = parser.nodes
    }

    public var root: JSONValue { JSONValue(document: self, index: 0) }

    /// The characters of a string, as UTF-8.
    func characters(of node: JSONNode) -> ArraySlice<UInt8> {
        let content = bytes[Int(node.start) + 1..<Int(node.end) - 1]
        return node.isEscaped ? JSONEscape.resolve(content)[...] : content
    }

    func string(of node: JSONNode) -> String { String(decoding: characters(of: node), as: UTF8.self) }
}

/// A value of a parsed text: its range, and the node after all its content.
struct JSONNode: Sendable {
    /// Offset of the value's first byte; for a string, the opening quotation mark.
    var start: UInt32
    /// Offset after the value's last byte.
    var end: UInt32
    /// Index of the first node after this one's content.
    var next: UInt32
    var kind: JSONKind
    /// Whether a string contains escapes, so that its bytes are not its characters.
    var isEscaped: Bool
}
