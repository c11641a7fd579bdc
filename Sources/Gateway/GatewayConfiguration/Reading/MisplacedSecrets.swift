/// Finds tokens and private keys that were pasted into the configuration, before a message can repeat them.
struct MisplacedSecrets {
    private static let prefix = "privyseal_"

    let findings: Findings

    /// The node without secrets. A fault says where each one was, and what to do because it has leaked.
    func remove(from node: SettingNode) -> SettingNode {
        switch node.content {
        case .scalar(let text, _):
            guard let sentence = Self.fault(of: text) else { return node }
            findings.fault(sentence, at: node.origin)
            return SettingNode(content: .faulty, origin: node.origin)
        case .list(let elements):
            return SettingNode(content: .list(elements.map(remove)), origin: node.origin)
        case .mapping(let entries):
            let cleaned: [SettingNode.Entry] = entries.compactMap { entry in
                if let sentence = Self.fault(of: entry.name) {
                    findings.fault(sentence, at: entry.origin)
                    return nil
                }
                return SettingNode.Entry(name: entry.name, origin: entry.origin, value: remove(from: entry.value))
            }
            return SettingNode(content: .mapping(cleaned), origin: node.origin)
        case .faulty: return node
        }
    }

    private static func fault(of text: String) -> String? {
        // PEM (RFC 7468 §10), and the format of a log's key (Go note).
        if text.contains("PRIVATE KEY-----") || text.contains("PRIVATE+KEY+") {
            return "holds a private key; put it into a file that only the gateway reads, and remove it here"
        }
        guard holdsToken(text) else { return nil }
        return
            "holds the token itself, which has leaked into a file; mint another with privyseal clients mint NAME, "
            + "and put the SHA-256 that it shows under the client's tokens"
    }

    /// A token has 50 characters after its prefix. A part of a token counts, too, from 20 characters. Within a text
    /// such as a URI, the prefix may begin a label, so a part needs 40 characters.
    private static func holdsToken(_ text: String) -> Bool {
        var rest = text[...]
        while let found = rest.firstRange(of: prefix) {
            let token = rest[found.upperBound...].prefix { character in
                character.isASCII && (character.isLetter || character.isNumber || "-_".contains(character))
            }
            if token.utf8.count >= (found.lowerBound == text.startIndex ? 20 : 40) { return true }
            rest = rest[found.upperBound...]
        }
        return false
    }
}
