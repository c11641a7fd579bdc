import Base64
import StrictJSON

/// An entry as a line of JSON, with or without its index.
public enum EntryJSON {
    /// The entry's own bytes: what its leaf is made of. Nil when they are no entry, and so perhaps no line or no JSON: what
    /// somebody put there breaks no reader of lines.
    public static func line(_ entry: StoredEntry) -> [UInt8]? {
        EntryMembers(entry.body) == nil || (try? JSONDocument(parsing: entry.body)) == nil ? nil : entry.body
    }

    /// `{"index":7,"entry":{…}}`; where there is no entry, `{"index":7,"damaged":"…"}` with its bytes in Base64.
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
