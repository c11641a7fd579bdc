import Encodings
import StrictJSON

/// An entry as a line of JSON, with or without its index.
public enum EntryJSON {
    /// The entry's bytes, the input of its leaf hash. Nil for other bytes, which could break a line-based reader.
    public static func line(_ entry: StoredEntry) -> [UInt8]? {
        EntryFields(entry.body)?.isLine == true && (try? JSONDocument(parsing: entry.body)) != nil ? entry.body : nil
    }

    /// `{"index":7,"entry":{…}}`, or `{"index":7,"damaged":"…"}` with the bytes in Base64 if they are not an entry.
    public static func indexed(_ entry: StoredEntry) -> [UInt8] {
        var writer = JSONWriter(capacity: entry.body.count + 40)
        writer.object { writer in
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
        guard let fields = EntryFields(entry.body), fields.isLine else { return nil }
        var values = Dictionary(fields.all.map { ($0.name, $0.value) }) { first, _ in first }
        func take(_ name: String) -> String { values.removeValue(forKey: name).map(cell) ?? "" }
        func takeOutcome() -> String {
            let outcomes = fields.values(of: .outcome)
            // `counts` stays in `other`, because it holds numbers besides the outcome names.
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
        // Like `EntryFields.values(of: .outcome)`: only refusals have a `status`, and others may have a `reason`.
        values["status"] != nil ? "reason" : ["outcome", "state", "event", "change"].first { values[$0] != nil }
    }

    private static func cell(_ value: [UInt8]) -> String {
        value.first == UInt8(ascii: "[")
            ? list(EntryScanner.elements(of: value[...]).compactMap(EntryScanner.text)) : EntryFields.text(of: value)
    }

    /// The texts joined by spaces, or as JSON if one of them contains a space, is empty or starts with `[`.
    private static func list(_ texts: [String]) -> String {
        guard texts.contains(where: { $0.isEmpty || $0.contains(" ") || $0.hasPrefix("[") }) else {
            return texts.joined(separator: " ")
        }
        var writer = JSONWriter()
        writer.array { writer in for text in texts { writer.string(text) } }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// A JSON object; empty text if no member is left.
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

/// Comma-separated values (RFC 4180). Text that a spreadsheet takes for a formula stays as it was recorded.
public enum CSV {
    /// One row, with CRLF.
    public static func row(_ cells: [String]) -> [UInt8] {
        var row: [UInt8] = []
        for (position, cell) in cells.enumerated() {
            if position > 0 { row.append(UInt8(ascii: ",")) }
            append(cell, to: &row)
        }
        return row + "\r\n".utf8
    }

    private static func append(_ text: String, to row: inout [UInt8]) {
        // Compare bytes: as a `Character`, CR LF is a single element.
        guard text.utf8.contains(where: "\",\r\n".utf8.contains) else { return row.append(contentsOf: text.utf8) }
        row.append(quotationMark)
        for byte in text.utf8 {
            if byte == quotationMark { row.append(quotationMark) }
            row.append(byte)
        }
        row.append(quotationMark)
    }

    private static let quotationMark = UInt8(ascii: "\"")
}
