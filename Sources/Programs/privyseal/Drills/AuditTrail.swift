import KeyDrills
import NIOHTTP1
import SigningKit
import StrictJSON

/// Reads a running gateway's audit log over its admin listener.
struct AuditTrail {
    private let admin: AdminClient

    init(_ admin: AdminClient) {
        self.admin = admin
    }

    /// The newest checkpoint and its size; nil if the gateway keeps no log.
    func head() async -> (size: Int, note: String)? {
        guard let note = try? await admin.ask(.GET, "/v1/audit/checkpoint", accept: nil) else { return nil }
        // C2SP tlog-checkpoint: the origin, then the size.
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let size = Int(lines[1]) else { return nil }
        return (size, note)
    }

    /// The number of matching entries, at most 1000.
    func count(_ query: String) async throws -> Int { try await entries(query).count }

    /// - Returns: the first time after `begin` at which the log reports the token as back or the key as ready, or nil.
    ///   For a token that is a directory, the library reports only the key as missing.
    func tokenBack(_ keyID: String, after begin: Timestamp) async throws -> Timestamp? {
        let since = String(decoding: begin.rfc3339, as: UTF8.self)
        let back = try await entries("kind=token&since=\(since)").compactMap(\.entry).filter { $0.event == "back" }
        let ready = try await entries("kind=key&since=\(since)").compactMap(\.entry)
            .filter { $0.key == keyID && $0.state == "ready" }
        return (back + ready).map(\.time).min()
    }

    private func entries(_ query: String) async throws -> [Page.Element] {
        let text = try await admin.ask(.GET, "/v1/audit/entries?limit=1000&\(query)", accept: nil)
        return try JSONDocument(parsing: Array(text.utf8)).root.decode(Page.self).entries
    }

    private struct Page: Decodable {
        struct Element: Decodable {
            /// Nil for a damaged entry.
            let entry: Entry?
        }

        let entries: [Element]
    }

    /// The members that a drill needs; they depend on the kind of the entry.
    private struct Entry: Decodable {
        let time: Timestamp
        let event, key, state: String?
    }
}
