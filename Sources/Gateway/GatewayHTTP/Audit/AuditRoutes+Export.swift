import AuditKit
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// `GET /v1/audit/export?since=…`: all matching canonical entries, one per line, oldest first. If an entry cannot be
/// read, the connection closes before the end of the body.
extension AuditRoutes {
    private static let exportLogger = Logger(label: "privyseal.audit")

    /// Entries per read.
    private static let stride = 2048

    @Sendable func export(_ request: Request, _ scope: RequestScope) async throws -> Response {
        let query = try AuditQueryParameters(request, allowing: []).query
        let (first, end, archived) = try await read { reader in
            (try reader.firstIndex(), try reader.head()?.size ?? 0, try reader.archived(before: query))
        }
        let id = scope.requestID
        let body = ResponseBody { writer in
            do {
                var position = first
                while position < end {
                    // An export may take minutes, so a graceful shutdown cancels it.
                    guard !Task.isShuttingDownGracefully else { throw CancellationError() }
                    let range = position..<min(end, position + Self.stride)
                    let lines = try await read { try Self.lines(range, query, $0) }
                    if !lines.isEmpty { try await writer.write(ByteBuffer(bytes: lines)) }
                    position = range.upperBound
                }
            } catch {
                let reason = (error as? Problem)?.detail ?? "\(error)"
                Self.exportLogger.warning("An export was cut short: \(reason)", metadata: ["requestId": "\(id)"])
                throw error
            }
            try await writer.finish(nil)
        }
        var headers: HTTPFields = [.contentType: "application/jsonl", .cacheControl: "no-store"]
        if let archived { headers[.archivedBefore] = String(archived) }
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func lines(
        _ range: Range<Int>, _ query: AuditQuery, _ reader: any AuditReader
    ) throws(AuditStoreError) -> [UInt8] {
        var lines: [UInt8] = []
        var next = range.lowerBound
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in
            guard entry.index == next else { return false }
            next += 1
            guard EntryFields(entry.body)?.match(query) ?? query.isForEverything else { return true }
            guard EntryJSON.line(entry) != nil else {
                throw .damaged("The data stored as entry \(entry.index) is not an entry: run privyseal audit verify.")
            }
            lines += entry.body
            lines.append(UInt8(ascii: "\n"))
            return true
        }
        // The error ends the connection before the body's end, so the client does not take a part for the whole.
        guard let missing = MissingEntries(next..<range.upperBound) else { return lines }
        throw .damaged(missing.sentence(beginningAt: try reader.firstIndex()))
    }
}
