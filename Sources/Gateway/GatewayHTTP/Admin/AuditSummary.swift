public import SigningGateway
import SigningKit
import StrictJSON

/// The state of the audit log in `GatewayStatus`.
public struct AuditSummary: Sendable {
    public let state: AuditState
    public let entries: Int
    public let publication: PublicationStatus?
    /// On the log's file system; nil if unknown.
    public let freeBytes: Int?
    /// Whether `freeBytes` is less than the configured reserve.
    public let isShortOfSpace: Bool

    public init(_ log: AuditLog) {
        state = log.state
        entries = log.entryCount
        publication = log.publication
        freeBytes = log.freeBytes
        isShortOfSpace = log.isShortOfSpace
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("state", state.name)
            if let reason = state.reason { writer.member("reason", reason) }
            writer.member("entries", entries)
            if let freeBytes { writer.member("freeBytes", freeBytes) }
            writer.member("shortOfSpace", isShortOfSpace)
            guard let publication else { return }
            if let size = publication.size { writer.member("checkpointSize", size) }
            writer.name("destinations")
            writer.array { writer in for place in publication.destinations { Self.write(place, &writer) } }
        }
    }

    private static func write(_ place: PublicationStatus.Destination, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", place.name)
            if let time = place.lastSuccess { writer.member("lastSuccess", unescaped: time.rfc3339) }
            if let complaint = place.complaint { writer.member("complaint", complaint) }
        }
    }

    /// One line, one more for the reason, and one for each failing checkpoint destination.
    var text: String {
        var parts = ["\(state.name), \(entries) entries"]
        if let size = publication?.size { parts.append("checkpoint over \(size)") }
        if isShortOfSpace, let freeBytes { parts.append("only \(freeBytes >> 20) MiB free") }
        var lines = [parts.joined(separator: ", ")]
        if let reason = state.reason { lines.append(reason) }
        for place in publication?.destinations ?? [] {
            if let complaint = place.complaint { lines.append("checkpoints to \(place.name): \(complaint)") }
        }
        return lines.joined(separator: "\n")
    }
}
