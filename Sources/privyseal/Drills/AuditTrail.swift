import KeyDrills
import NIOHTTP1
import SigningKit
import StrictJSON

/// What a running gateway's audit log holds, over its admin listener.
struct AuditTrail {
    private let admin: AdminClient

    init(_ admin: AdminClient) {
        self.admin = admin
    }

    /// The newest checkpoint, and how many entries it covers; nil where no log is kept.
    func head() async -> (size: Int, note: String)? {
        guard let note = try? await admin.ask(.GET, "/v1/audit/checkpoint", accept: nil) else { return nil }
        // C2SP tlog-checkpoint: the origin, then the size.
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let size = Int(lines[1]) else { return nil }
        return (size, note)
    }

    /// How many entries match, a thousand at most.
    func count(_ query: String) async throws -> Int {
        let text = try await admin.ask(.GET, "/v1/audit/entries?limit=1000&\(query)", accept: nil)
        let object = try JSONDocument(parsing: Array(text.utf8)).root.anyObject()
        return try object.required("entries") { value throws(JSONReadError) in try value.elements().count }
    }

    /// When the log last said after a moment that a token is back; nil when it says that nowhere.
    func tokenBack(after begin: Timestamp) async throws -> Timestamp? {
        let since = String(decoding: begin.rfc3339, as: UTF8.self)
        let text = try await admin.ask(.GET, "/v1/audit/entries?limit=1000&kind=token&since=\(since)", accept: nil)
        let object = try JSONDocument(parsing: Array(text.utf8)).root.anyObject()
        var back: Timestamp?
        try object.required("entries") { value throws(JSONReadError) in
            for element in try value.elements() {
                guard let entry = try element.anyObject()["entry"]?.anyObject(),
                    try entry["event"]?.string() == "back", let time = try entry["time"]?.string()
                else { continue }
                back = [back, Timestamp(rfc3339: Array(time.utf8))].compactMap(\.self).max()
            }
        }
        return back
    }
}
