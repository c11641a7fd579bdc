import StrictJSON

/// An entry in one line, for people.
///
/// Time, index and kind; for signatures and refusals then client, app, feature, products and offers, key, outcome and
/// request ID, with `-` for what is not there; for the other kinds their members by name. Two spaces divide them; a value that could be
/// taken for something else stands in quotes.
public enum EntryLine {
    public static func text(_ entry: StoredEntry) -> String {
        guard let fields = EntryFields(entry.body), let members = EntryMembers(entry.body) else {
            return "\(entry.index)  (\(entry.body.count) bytes that are no entry; see privyseal audit verify)"
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

    /// As JSON where there is something in it that divides values here, or that looks like a space.
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

    /// As JSON where there are spaces in it.
    private static func word(_ value: [UInt8]) -> String {
        let text = EntryMembers.text(value)
        return text.contains(" ") ? String(decoding: value, as: UTF8.self) : text
    }
}
