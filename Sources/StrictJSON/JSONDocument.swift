/// A JSON text that has been read once and found well-formed (RFC 8259), with the bytes as they came.
///
/// Stricter than most readers where leniency would let two readers see two things: members must be unique, UTF-8 valid,
/// surrogates paired, no byte order mark, nothing after the value.
public struct JSONDocument: Sendable {
    /// Levels of objects and arrays that are read when nothing else is asked for.
    public static let defaultMaximumDepth = 32
    /// In bytes; requests stay far below it.
    public static let maximumLength = 64 << 20

    let tape: JSONTape

    public init(parsing bytes: [UInt8], maximumDepth: Int = defaultMaximumDepth) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes, maximumDepth: maximumDepth)
        try parser.parse()
        tape = JSONTape(bytes: bytes, nodes: parser.nodes)
    }

    public var root: JSONValue { JSONValue(tape: tape, index: 0) }
}
