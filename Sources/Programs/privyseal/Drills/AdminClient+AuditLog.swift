import NIOHTTP1
import SigningKit
import StrictJSON

/// Reads a running gateway's audit log.
extension AdminClient {
    /// The newest checkpoint and its size; nil if the gateway keeps no log.
    func auditHead() async -> (size: Int, note: String)? {
        guard let note = try? await ask(.GET, "/v1/audit/checkpoint", accept: nil) else { return nil }
        // C2SP tlog-checkpoint: the origin, then the size.
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let size = Int(lines[1]) else { return nil }
        return (size, note)
    }

    /// The matching entries, at most 1000; nil in place of a damaged one.
    func auditEntries(_ query: String) async throws -> [AuditLogEntry?] {
        let text = try await ask(.GET, "/v1/audit/entries?limit=1000&\(query)", accept: nil)
        return try JSONDocument(parsing: Array(text.utf8)).root.decode(Page.self).entries.map(\.entry)
    }
}

/// The members of an entry that a drill needs; they depend on the kind of the entry.
struct AuditLogEntry: Decodable {
    let time: Timestamp
    let event, key, state, tokenSerial: String?
}

private struct Page: Decodable {
    struct Element: Decodable {
        let entry: AuditLogEntry?
    }

    let entries: [Element]
}
