/// Finds tokens and private keys that were pasted into the configuration, before a message can repeat them.
enum MisplacedSecrets {
    private static let prefix = "privyseal_"

    /// What to do with a secret in the text, because it has leaked; nil without one.
    static func fault(in text: String) -> String? {
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
