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
