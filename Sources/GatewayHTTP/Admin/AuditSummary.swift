public import SigningGateway
import SigningKit
import StrictJSON

/// How the audit log fares, for the operator's screen.
public struct AuditSummary: Sendable {
    public let state: AuditState
    public let entries: Int
    public let publication: PublicationStatus?
    /// Where the log is kept; nil where nobody can say.
    public let freeBytes: Int?
    /// Whether that is less than the reserve.
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

    /// One or two lines.
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
