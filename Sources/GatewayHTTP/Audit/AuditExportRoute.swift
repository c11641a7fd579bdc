import AuditKit
import Hummingbird
import NIOCore

/// `GET /v1/audit/export?since=…`: the canonical entries that match, one a line, the oldest first, however many.
struct AuditExportRoute {
    let desk: AuditRoutes

    /// Entries that are looked at in one go.
    private static let stride = 2048

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let query = try AuditQueryParameters(request, allowing: []).query
        let (first, end) = try await desk.read { (try $0.firstIndex(), try $0.head()?.size ?? 0) }
        let body = ResponseBody { writer in
            var position = first
            while position < end {
                let range = position..<min(end, position + Self.stride)
                let lines = try await desk.read { try Self.lines(range, query, $0) }
                if !lines.isEmpty { try await writer.write(ByteBuffer(bytes: lines)) }
                position = range.upperBound
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"], body: body)
    }

    private static func lines(
        _ range: Range<Int>, _ query: AuditQuery, _ reader: any AuditReader
    ) throws(AuditStoreError) -> [UInt8] {
        var lines: [UInt8] = []
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in
            if let fields = EntryFields(entry.body), fields.match(query) {
                lines += entry.body
                lines.append(UInt8(ascii: "\n"))
            }
            return true
        }
        return lines
    }
}
