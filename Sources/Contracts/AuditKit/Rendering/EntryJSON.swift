import Encodings
import StrictJSON

/// An entry as a line of JSON, with or without its index.
public enum EntryJSON {
    /// The entry's bytes, the input of its leaf hash. Nil for other bytes, which could break a line-based reader.
    public static func line(_ entry: StoredEntry) -> [UInt8]? {
        EntryMembers(entry.body) == nil || (try? JSONDocument(parsing: entry.body)) == nil ? nil : entry.body
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
