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
