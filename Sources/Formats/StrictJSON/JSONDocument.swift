/// A JSON text, parsed once and found well-formed (RFC 8259), with its original bytes.
///
/// It is stricter than most parsers, because two lenient parsers can read one text differently. Members are unique,
/// UTF-8 is valid, surrogates are paired. There is no byte order mark, and nothing follows the value.
public struct JSONDocument: Sendable {
    /// The default limit of nested objects and arrays.
    public static let defaultMaximumDepth = 32
    /// In bytes; requests are far smaller.
    public static let maximumLength = 64 << 20

    let tape: JSONTape

    public init(parsing bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes, maximumDepth: maximumDepth)
        try parser.parse()
        tape = JSONTape(bytes: bytes, nodes: parser.nodes)
    }

    public var root: JSONValue { JSONValue(tape: tape, index: 0) }
}
