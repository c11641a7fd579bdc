import AuditLog
import SigningKit
import StrictJSON

/// The state of the audit log in `GatewayStatus`.
struct AuditSummary {
    let state: AuditState
    let entries: Int
    let publication: PublicationStatus?
    /// On the log's file system; nil if unknown.
    let freeBytes: Int?
    /// Whether `freeBytes` is less than the configured reserve.
    let isShortOfSpace: Bool

    init(_ log: AuditLog) {
        state = log.state
        entries = log.entryCount
        publication = log.publication
        freeBytes = log.freeBytes
        isShortOfSpace = log.isShortOfSpace
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

extension AuditSummary: Encodable {
    func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "state": state.name, "reason": state.reason, "entries": entries, "freeBytes": freeBytes,
            "shortOfSpace": isShortOfSpace, "checkpointSize": publication?.size,
            "destinations": publication?.destinations.map { place -> JSONMembers in
                ["name": place.name, "lastSuccess": place.lastSuccess, "complaint": place.complaint]
            },
        ]
        try members.encode(to: encoder)
    }
}
