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
    func count(_ query: String) async throws -> Int {
        let text = try await admin.ask(.GET, "/v1/audit/entries?limit=1000&\(query)", accept: nil)
        let object = try JSONDocument(parsing: Array(text.utf8)).root.anyObject()
        return try object.required("entries") { value throws(JSONReadError) in try value.elements().count }
    }

    /// - Returns: the first time after `begin` at which the log reports the token as back or the key as ready, or nil.
    ///   For a token that is a directory, the library reports only the key as missing.
    func tokenBack(_ keyID: String, after begin: Timestamp) async throws -> Timestamp? {
        let back = try await entries("token", after: begin).filter { try $0["event"]?.string() == "back" }
        let ready = try await entries("key", after: begin).filter {
            try $0["key"]?.string() == keyID && $0["state"]?.string() == "ready"
        }
        return try (back + ready).compactMap { entry in
            try entry["time"]?.string()
        }.compactMap { Timestamp(rfc3339: Array($0.utf8)) }.min()
    }

    /// The entries of one kind, at most 1000.
    private func entries(_ kind: String, after begin: Timestamp) async throws -> [JSONObject] {
        let since = begin.text
        let text = try await admin.ask(.GET, "/v1/audit/entries?limit=1000&kind=\(kind)&since=\(since)", accept: nil)
        let object = try JSONDocument(parsing: Array(text.utf8)).root.anyObject()
        let elements = try object.required("entries") { value throws(JSONReadError) in try value.elements() }
        return try elements.compactMap { element in
            try element.anyObject()["entry"]?.anyObject()
        }
    }
}
