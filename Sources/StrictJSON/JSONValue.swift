/// One value of a `JSONDocument`, read as the kind that is asked for and as no other: nothing is converted.
public struct JSONValue: Sendable {
    let tape: JSONTape
    let index: Int

    var node: JSONNode { tape.nodes[index] }

    public var kind: JSONKind { node.kind }

    /// The value's bytes exactly as they came, from its first to its last, without the white space around it.
    public var rawBytes: ArraySlice<UInt8> { tape.bytes[Int(node.start)..<Int(node.end)] }

    public func string() throws(JSONReadError) -> String {
        try require(.string)
        return tape.string(of: node)
    }

    /// An integer as RFC 8259 writes one: neither a fraction nor an exponent, so `1.0` and `1e3` are refused.
    public func integer() throws(JSONReadError) -> Int64 {
        try require(.number)
        let digits = String(decoding: rawBytes, as: UTF8.self)
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != UInt8(ascii: "e") }) else {
            throw JSONReadError(.invalid("is \(digits); it must be an integer, without fraction or exponent"))
        }
        guard let integer = Int64(digits) else {
            throw JSONReadError(.invalid("does not fit into 64 bits"))
        }
        return integer
    }

    public func boolean() throws(JSONReadError) -> Bool {
        try require(.boolean)
        return tape.bytes[Int(node.start)] == UInt8(ascii: "t")
    }

    /// The value as an object whose members are all among `members`.
    public func object(members: [String]) throws(JSONReadError) -> JSONObject {
        let object = try anyObject()
        try object.refuseUnknown(besides: members)
        return object
    }

    /// The value as an object with whatever members.
    public func anyObject() throws(JSONReadError) -> JSONObject {
        try require(.object)
        return JSONObject(tape: tape, index: index)
    }

    /// The values of an array, in order.
    public func elements() throws(JSONReadError) -> [JSONValue] {
        try require(.array)
        var elements: [JSONValue] = []
        var child = index + 1
        while child < Int(node.next) {
            elements.append(JSONValue(tape: tape, index: child))
            child = Int(tape.nodes[child].next)
        }
        return elements
    }

    /// Reads each element of an array; an error names the element's index.
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
