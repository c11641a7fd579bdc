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

/// A parsed text: the original bytes, and the values by first byte. A member is two nodes: its name, then its value.
final class JSONTape: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// The bytes between a string's quotation marks, with escapes.
    func content(of node: JSONNode) -> ArraySlice<UInt8> {
        bytes[Int(node.start) + 1..<Int(node.end) - 1]
    }

    /// The characters of a string, as UTF-8.
    func characters(of node: JSONNode) -> ArraySlice<UInt8> {
        let content = content(of: node)
        return node.isEscaped ? JSONEscape.resolve(content)[...] : content
    }

    func string(of node: JSONNode) -> String {
        String(decoding: characters(of: node), as: UTF8.self)
    }
}
