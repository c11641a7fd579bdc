import Encodings
import StrictJSON

/// An entry as a line of JSON, with or without its index.
public enum EntryJSON {
    /// The entry's bytes, the input of its leaf hash. Nil for other bytes, which could break a line-based reader.
    public static func line(_ entry: StoredEntry) -> [UInt8]? {
        EntryFields(line: entry.body).map { _ in entry.body }
    }

    /// `{"index":7,"entry":{…}}`, or `{"index":7,"damaged":"…"}` with the bytes in Base64 if they are not an entry.
    ///
    /// - Parameter log: the name of the log, as a member in front; nil if there is only one.
    public static func indexed(_ entry: StoredEntry, log: String? = nil) -> [UInt8] {
        var writer = JSONWriter(capacity: entry.body.count + 40)
        writer.object { writer in
            if let log { writer.member("log", log) }
            writer.member("index", entry.index)
            if let line = line(entry) {
                writer.name("entry")
                writer.raw(line)
            } else {
                writer.member("damaged", unescaped: Base64.standard.encode(entry.body))
            }
        }
        return writer.bytes
    }
}

/// Entries as rows with a fixed header. Members without a column go into `other`, so no data is lost.
public enum EntryCSV {
    public static let header = [
        "index", "time", "kind", "outcome", "client", "app", "feature", "products", "offers", "key", "fingerprint",
        "tokenSerial", "requestId", "item", "status", "nonce", "digest", "user", "keyMicroseconds",
        "requestMicroseconds", "other", "v",
    ]

    /// One cell for each header column. Nil if the bytes are not an entry.
    public static func cells(_ entry: StoredEntry) -> [String]? {
        guard let fields = EntryFields(line: entry.body) else { return nil }
        var values = Dictionary(fields.all.map { ($0.name, $0.value) }) { first, _ in first }
        func take(_ name: String) -> String { values.removeValue(forKey: name).map(cell) ?? "" }
        func takeOutcome() -> String {
            // Like `EntryFields.values(of: .outcome)`: only refusals have a `status`, and others may have a `reason`.
            // `counts` stays in `other`, because it holds numbers besides the outcome names.
            let names = values["status"] != nil ? ["reason"] : ["outcome", "state", "event", "change"]
            if let name = names.first(where: { values[$0] != nil }) { values[name] = nil }
            return list(fields.values(of: .outcome))
        }
        let took = Dictionary(fields.numbers("took").map { ($0.name, String($0.number)) }) { first, _ in first }
        let begin = [String(entry.index), take("time"), take("kind"), takeOutcome()]
        let middle = header[4..<18].map(take)
        values["took"] = nil
        let version = take("v")
        return begin + middle + [took["key"] ?? "", took["request"] ?? "", other(values), version]
    }

    private static func cell(_ value: JSONValue) -> String {
        value.kind == .array ? list(EntryFields.texts(value)) : EntryFields.text(of: value)
    }

    /// The texts joined by spaces, or as JSON if one of them contains a space, is empty or starts with `[`.
    private static func list(_ texts: [String]) -> String {
        guard texts.contains(where: { $0.isEmpty || $0.contains(" ") || $0.hasPrefix("[") }) else {
            return texts.joined(separator: " ")
        }
        return JSONText.string(texts)
    }

    /// A JSON object; empty text if no member is left.
    private static func other(_ values: [String: JSONValue]) -> String {
        guard !values.isEmpty else { return "" }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.name(escaping: name)
                writer.raw(value.rawBytes)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Comma-separated values (RFC 4180). Text that a spreadsheet takes for a formula stays as it was recorded.
public enum CSV {
    /// One row, with CRLF.
    public static func row(_ cells: [String]) -> [UInt8] {
        Array((cells.map(quoted).joined(separator: ",") + "\r\n").utf8)
    }

    private static func quoted(_ text: String) -> String {
        // Compare bytes and scalars: as a `Character`, CR LF is a single element, and so is a mark with an accent.
        guard text.utf8.contains(where: "\",\r\n".utf8.contains) else { return text }
        return "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
