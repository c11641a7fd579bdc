import Encodings

/// Decodes Base64 in either alphabet, with or without padding, and reports its form.
struct LenientBase64 {
    let bytes: [UInt8]
    /// The text contains `-` or `_`.
    let isURLAlphabet: Bool
    /// The text contains `+` or `/`.
    let isStandardAlphabet: Bool
    /// The number of `=` at the end.
    let padding: Int

    /// Nil unless the characters are Base64 in one alphabet, with any padding at the end.
    init?(_ characters: some Collection<UInt8>) {
        var body = Array(characters)
        while body.last == UInt8(ascii: "=") { body.removeLast() }
        padding = characters.count - body.count
        isURLAlphabet = body.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        isStandardAlphabet = body.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        let url = body.map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        guard !(isURLAlphabet && isStandardAlphabet), !body.isEmpty, let bytes = Base64.url.decode(url) else {
            return nil
        }
        self.bytes = bytes
    }
}
