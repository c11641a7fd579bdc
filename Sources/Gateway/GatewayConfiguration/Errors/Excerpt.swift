/// The parts of the configuration that a message may repeat.
enum Excerpt {
    /// A key's name if it has the form of one. A URI, a PIN or a token in place of a name is not repeated.
    static func name(_ text: String) -> String {
        let isName = text.utf8.count <= 40 && !text.hasPrefix("privyseal_") && text.hasOnlyLetters(or: "-_")
        return isName && text.utf8.first.map { $0 > UInt8(ascii: "9") } == true ? text : "…"
    }

    /// A value that is not a secret, in quotes. Only printable ASCII is shown, and only the first 60 characters.
    static func quoted(_ text: String) -> String {
        let visible = text.unicodeScalars.prefix(60).map { (0x20...0x7E).contains($0.value) ? Character($0) : "�" }
        return "\"" + String(visible) + (text.unicodeScalars.count > 60 ? "…" : "") + "\""
    }
}
