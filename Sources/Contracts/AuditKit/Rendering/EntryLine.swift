import StrictJSON

/// An entry as one line of text.
///
/// The line starts with time, index and kind. For signatures and refusals, client, app, feature, products and offers,
/// key, outcome and request ID follow, with `-` for an absent value. For other kinds, the members follow by name. Two
/// spaces separate values. An ambiguous value is a JSON string.
public enum EntryLine {
    public static func text(_ entry: StoredEntry) -> String {
        guard let fields = EntryFields(entry.body), let members = EntryMembers(entry.body) else {
            return "\(entry.index)  (\(entry.body.count) bytes that are not an entry; run privyseal audit verify)"
        }
        let kind = fields.kind ?? "-"
        let cells: [String] =
            switch kind {
            case "signature", "refusal": offer(fields)
            default: members.all.filter { !Self.shown.contains($0.name) }.map { "\($0.name)=\(word($0.value))" }
            }
        let begin = [fields.text("time") ?? "-", String(entry.index), kind]
        return PlainText.of((begin + cells).joined(separator: "  "))
    }

    private static let shown: Set<String> = ["time", "kind", "v"]

    private static func offer(_ fields: EntryFields) -> [String] {
        let subject = [fields.texts("products"), fields.texts("offers")].filter { !$0.isEmpty }
        return [
            fields.text("client").map(quoted), fields.text("app").map(quoted), fields.text("feature").map(quoted),
            subject.isEmpty ? nil : subject.map { $0.map(quoted).joined(separator: ",") }.joined(separator: "/"),
            fields.text("key").map(quoted), fields.values(of: .outcome).first.map(quoted),
            fields.text("requestId").map { quoted($0) + item(fields) },
        ].map { $0 ?? "-" }
    }

    /// The text, or a JSON string if it is empty, is `-`, or contains a separator or a space-like character.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text != "-"
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII ? !dividers.contains(scalar) : !scalar.properties.isWhitespace && scalar != "\u{2800}"
            }
        guard !isPlain else { return text }
        var writer = JSONWriter(capacity: text.utf8.count + 2)
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static let dividers: Set<Unicode.Scalar> = [" ", "\"", ",", "/", "#"]

    private static func item(_ fields: EntryFields) -> String { fields.integer("item").map { "#\($0)" } ?? "" }

    /// The value as text, or as JSON if it contains spaces.
    private static func word(_ value: [UInt8]) -> String {
        let text = EntryMembers.text(value)
        return text.contains(" ") ? String(decoding: value, as: UTF8.self) : text
    }
}
