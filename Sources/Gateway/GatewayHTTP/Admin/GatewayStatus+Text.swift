import AuditLog
import GatewayConfiguration
import Signing
import SigningKit

/// The status as plain text for a terminal.
extension GatewayStatus {
    var text: String {
        var parts = [head, listenerTable.text, keyTable.text]
        parts += [replicaTable, tokenTable, SignerStatus.table(process.signers), clientTable]
            .filter { !$0.rows.isEmpty }.map(\.text)
        let complaints = keys.compactMap { key in key.state.reason.map { "\(key.settings.keyID): \($0)" } }
        if !complaints.isEmpty { parts.append(complaints.joined(separator: "\n")) }
        let events = process.events.map { "\n\($0.time) \($0.level): \($0.message)" }
        parts.append(events.isEmpty ? "No warnings." : "LAST WARNINGS" + events.joined())
        return parts.joined(separator: "\n\n") + "\n"
    }

    private var head: String {
        var lines = [
            "PrivySeal \(process.version), \(isReady ? "ready" : "NOT READY"), up \(age), configured by \(process.configuration)",
            "Requests per second in the last minute: \(Decimals.text(rates.answered)) answered, \(Decimals.text(rates.refused)) refused, "
                + "\(Decimals.text(rates.failed)) failed",
        ]
        if let audit { lines.append("Audit log: \(Self.text(of: audit))") }
        if let fleetLog { lines.append("Log of the fleet: \(Self.text(of: fleetLog))") }
        if let lastReload = process.lastReload { lines.append("Last reload: \(lastReload.time) \(lastReload.message)") }
        return lines.joined(separator: "\n")
    }

    /// One line, one more for the reason, and one for each failing checkpoint destination.
    private static func text(of log: AuditLog) -> String {
        let (state, publication) = (log.state, log.publication)
        var parts = ["\(state.name), \(log.entryCount) entries"]
        if let size = publication?.size { parts.append("checkpoint over \(size)") }
        if log.isShortOfSpace, let freeBytes = log.freeBytes { parts.append("only \(freeBytes >> 20) MiB free") }
        let complaints = (publication?.destinations ?? []).compactMap { place in
            place.complaint.map { "checkpoints to \(place.name): \($0)" }
        }
        let witnesses = log.witnesses
        if let size = witnesses?.quorumSize { parts.append("enough witnesses cosigned \(size)") }
        // The reason of the state names the witnesses already.
        let refusals =
            state.isWritable
            ? (witnesses?.witnesses ?? []).compactMap { witness in
                witness.complaint.map { "witness \(witness.name): \($0)" }
            } : []
        return ([parts.joined(separator: ", "), state.reason].compactMap(\.self) + complaints + refusals)
            .joined(separator: "\n")
    }

    private var age: String {
        let seconds = uptime.components.seconds
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let relevant = parts.drop { $0.0 == 0 }.prefix(2)
        return relevant.isEmpty ? "0 s" : relevant.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    private var listenerTable: TextTable {
        TextTable(
            header: ["LISTENER", "ADDRESS", "CONNECTIONS", "CERTIFICATE"],
            rows: listeners.map { listener in
                [
                    listener.name.rawValue, listener.address, "\(listener.connections)",
                    listener.certificateExpiry.map(Self.end) ?? "-",
                ]
            })
    }

    private var keyTable: TextTable {
        TextTable(
            header: ["KEY", "ACCOUNT", "ROLE", "STATE", "CUSTODY", "FINGERPRINT"],
            rows: keys.map { key in
                [
                    key.settings.keyID, key.issuerID, key.lifeState?.rawValue ?? (key.isActive ? "active" : "usable"),
                    key.stateName,
                    key.custody?.rawValue ?? "-", key.fingerprint.map { String("\($0)".prefix(23)) + "…" } ?? "-",
                ]
            })
    }

    /// The places of keys with several places.
    private var replicaTable: TextTable {
        TextTable(
            header: ["REPLICA OF", "STATE", "CUSTODY", "SERIAL", "WHERE"],
            rows: keys.filter { $0.replicas.count > 1 }.flatMap { key in
                key.replicas.map { replica in
                    [
                        key.settings.keyID, replica.state.name, replica.custody?.rawValue ?? "-",
                        replica.tokenSerial ?? "-", replica.name,
                    ]
                }
            })
    }

    private var tokenTable: TextTable {
        TextTable(
            header: ["TOKEN", "HEALTH", "SESSIONS", "BUSY", "QUEUE", "RECONNECTS", "MODEL", "SERIAL"],
            rows: places.compactMap { place in
                guard let pool = place.pool else { return nil }
                return [
                    place.name ?? "-", place.health.name, "\(pool.ready) of \(pool.wanted)", "\(pool.busy)",
                    "\(pool.queueDepth) of \(pool.queueLimit)", "\(pool.reconnects)", place.token?.model ?? "-",
                    place.token?.serial ?? "-",
                ]
            })
    }

    private var clientTable: TextTable {
        TextTable(
            header: ["CLIENT", "ROLE", "BURST LEFT", "DAY LEFT"],
            rows: clients.map { client in
                let standing = client.standing(at: .now())
                let left = [standing.rate, standing.quota].map { limit in
                    limit.map { "\($0.remaining) of \($0.limit)" } ?? "no limit"
                }
                return [client.name, client.isAdministrator ? "administrator" : "client"] + left
            })
    }

    private static func end(of expiry: Int) -> String {
        let rest = expiry - Int(Timestamp.now().seconds)
        return rest <= 0 ? "HAS ENDED" : "ends in \(rest / 86_400) days"
    }
}
