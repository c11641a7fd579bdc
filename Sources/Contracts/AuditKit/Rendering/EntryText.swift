import Encodings
import StrictJSON
import TransparencyLog

/// An entry as one line of text.
///
/// The line starts with time, index and kind. For signatures and refusals, client, app, feature, products and offers,
/// key, outcome and request ID follow, with `-` for an absent value. For other kinds, the members follow by name. Two
/// spaces separate values. An ambiguous value is a JSON string.
public enum EntryLine {
    public static func text(_ entry: StoredEntry) -> String {
        guard let fields = EntryFields(line: entry.body) else {
            return "\(entry.index)  (\(entry.body.count) bytes that are not an entry; run privyseal audit verify)"
        }
        let kind = fields.kind ?? "-"
        let cells: [String] =
            switch kind {
            case "signature", "refusal": offer(fields)
            default: fields.all.filter { !Self.shown.contains($0.name) }.map { "\($0.name)=\(word($0.value))" }
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
            fields.text("requestId").map { quoted($0) + (fields.integer("item").map { "#\($0)" } ?? "") },
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
        return JSONText.string(text)
    }

    private static let dividers: Set<Unicode.Scalar> = [" ", "\"", ",", "/", "#"]

    /// The value as text, or as JSON if it contains spaces.
    private static func word(_ value: JSONValue) -> String {
        let text = EntryFields.text(of: value)
        return text.contains(" ") ? EntryFields.json(value) : text
    }
}

/// One entry as labelled lines, with all its members.
public enum EntryDetail {
    public static func text(_ entry: StoredEntry) -> String {
        let leaf = MerkleHash.leaf(entry.body)
        var lines = [("Entry", String(entry.index)), ("Leaf hash", Hexadecimal.encode(leaf.bytes))]
        if StoredEntry.mark(of: leaf, at: entry.index) != entry.mark {
            lines.append(("Attention", "the entry does not match its mark: run privyseal audit verify"))
        }
        if let fields = EntryFields(line: entry.body) {
            let special = specialLabels[fields.kind ?? ""] ?? [:]
            lines += fields.all.flatMap { rows(of: $0.name, $0.value, special) }
        } else {
            lines.append(("Attention", "these \(entry.body.count) bytes are not an entry: run privyseal audit verify"))
        }
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { label, text in
            label + String(repeating: " ", count: width + 2 - label.count) + PlainText.of(text)
        }.joined(separator: "\n")
    }

    private static func rows(
        of name: String, _ value: JSONValue, _ special: [String: String]
    ) -> [(String, String)] {
        let label = special[name] ?? labels[name] ?? PlainText.of(name)
        let text = EntryFields.text(of: value)
        switch name {
        case "digest", "fingerprint", "configuration":
            guard value.kind == .string, let bytes = Base64.url.decode(Array(text.utf8)) else { break }
            return [(label, text), ("", Hexadecimal.encode(bytes))]
        case "took":
            let members = (try? value.anyObject().members) ?? []
            let parts = members.map { "\($0.name) \(EntryFields.text(of: $0.value)) µs" }
            return [(label, parts.joined(separator: ", "))]
        default: break
        }
        return [(label, text)]
    }

    private static let labels = [
        "action": "Action", "actor": "Actor", "app": "App", "approver": "Approver", "before": "Clock before",
        "change": "Change", "changes": "Changes", "client": "Client",
        "configuration": "Configuration's SHA-256", "counts": "Refused", "digest": "Signing input's SHA-256",
        "event": "Event", "evidence": "Evidence", "expires": "Expires", "feature": "Feature",
        "fingerprint": "Key's fingerprint", "from": "From entry", "id": "ID", "issuer": "Issuer ID",
        "item": "Item of the batch", "key": "Key", "kind": "Kind", "label": "Token", "log": "Log",
        "lostEvents": "Events not recorded", "note": "Checkpoint",
        "milliseconds": "Milliseconds", "minute": "Minute", "nonce": "Nonce", "offers": "Offers", "outcome": "Outcome",
        "products": "Products", "reason": "Reason", "refused": "Requests refused", "register": "Register",
        "requestId": "Request ID", "retireAt": "Signs until", "size": "Entries checked", "state": "State",
        "status": "HTTP status", "subject": "Subject", "time": "Time", "to": "To before entry",
        "tokenSerial": "Token's serial", "took": "Took", "user": "User (keyed hash)", "v": "Version of the entry",
        "version": "Version of PrivySeal",
    ]

    /// Labels of members that mean something else in entries of this kind.
    private static let specialLabels = [
        "checkpoint": ["size": "Entries"],
        "continued": ["from": "From database"],
        "life": ["digest": "Register's SHA-256", "from": "From state", "to": "To state"],
        "moved": ["to": "To database"],
        "report": ["digest": "File's SHA-256"],
    ]
}
