/// One value of a parsed text: where it is, and which node comes after everything inside it.
struct JSONNode: Sendable {
    /// Offset of the value's first byte; for a string, its opening quotation mark.
    var start: UInt32
    /// Offset after the value's last byte.
    var end: UInt32
    /// Index of the first node that is not inside this one.
    var next: UInt32
    var kind: JSONKind
    /// A string that holds at least one escape: its bytes are not its characters.
    var isEscaped: Bool
}

/// A parsed text: the bytes as they came, and its values in the order of their first bytes. A member is two nodes: its
/// name, then its value.
final class JSONTape: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// The bytes between a string's quotation marks, escapes and all.
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
