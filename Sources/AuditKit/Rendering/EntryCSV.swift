import StrictJSON

/// Entries as rows of a table with a fixed header. Nothing is lost: what has no column of its own stands in `other`.
public enum EntryCSV {
    public static let header = [
        "index", "time", "kind", "outcome", "client", "app", "feature", "products", "offers", "key", "fingerprint",
        "tokenSerial", "requestId", "item", "status", "nonce", "digest", "user", "keyMicroseconds",
        "requestMicroseconds", "other", "v",
    ]

    /// As many cells as the header has. Nil when the bytes are no entry.
    public static func cells(_ entry: StoredEntry) -> [String]? {
        guard let fields = EntryFields(entry.body), let members = EntryMembers(entry.body) else { return nil }
        var values = Dictionary(members.all.map { ($0.name, $0.value) }) { first, _ in first }
        func take(_ name: String) -> String { values.removeValue(forKey: name).map(cell) ?? "" }
        func takeOutcome() -> String {
            let outcomes = fields.values(of: .outcome)
            // `counts` holds more than its names: it stays.
            if let name = outcomeMember(values) { values[name] = nil }
            return list(outcomes)
        }
        let took = Dictionary(fields.numbers("took").map { ($0.name, $0.number) }) { first, _ in first }
        func takeTime(_ name: String) -> String { took[name].map(String.init) ?? "" }
        let begin = [String(entry.index), take("time"), take("kind"), takeOutcome()]
        let middle = header[4..<18].map(take)
        values["took"] = nil
        let version = take("v")
        return begin + middle + [takeTime("key"), takeTime("request"), other(values), version]
    }

    private static func outcomeMember(_ values: [String: [UInt8]]) -> String? {
        // As `EntryFields.values(of: .outcome)`; of a refusal, the status tells it from other entries with a reason.
        values["status"] != nil ? "reason" : ["outcome", "state", "event", "change"].first { values[$0] != nil }
    }

    private static func cell(_ value: [UInt8]) -> String {
        value.first == UInt8(ascii: "[")
            ? list(EntryScanner.elements(of: value[...]).compactMap(EntryScanner.text)) : EntryMembers.text(value)
    }

    /// Joined by spaces; as JSON when one of them has a space itself, is empty or looks like JSON.
    private static func list(_ texts: [String]) -> String {
        guard texts.contains(where: { $0.isEmpty || $0.contains(" ") || $0.hasPrefix("[") }) else {
            return texts.joined(separator: " ")
        }
        var writer = JSONWriter()
        writer.array { writer in for text in texts { writer.string(text) } }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A JSON object; empty when nothing is left.
    private static func other(_ values: [String: [UInt8]]) -> String {
        guard !values.isEmpty else { return "" }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.raw(value)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
