import GatewayConfiguration
import SigningGateway
import SigningKit
public import StrictJSON

extension GatewayStatus: JSONWritable {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("version", version)
            writer.member("uptimeSeconds", uptime.components.seconds)
            writer.member("configuration", configuration)
            writer.member("ready", isReady)
            if let audit {
                writer.name("audit")
                audit.write(to: &writer)
            }
            if let lastReload {
                writer.name("lastReload")
                lastReload.write(to: &writer)
            }
            writer.list("listeners", listeners) { $0.write(to: &$1) }
            writer.name("requestsPerSecond")
            writer.object { writer in
                writer.member("answered", hundredths: totals.answered)
                writer.member("refused", hundredths: totals.refused)
                writer.member("failed", hundredths: totals.failed)
            }
            writer.list("keys", keys, Self.write)
            writer.list("tokens", places.filter { $0.pool != nil }, Self.write)
            writer.list("clients", clients, Self.write)
            writer.list("events", events) { $0.write(to: &$1) }
        }
    }

    private static func write(_ key: KeyHandle, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("keyId", key.settings.keyID)
            writer.member("issuerId", key.issuerID)
            writer.member("active", key.isActive)
            if let life = key.lifeState { writer.member("life", life.rawValue) }
            writer.member("state", key.state.name)
            if let reason = key.state.reason { writer.member("reason", reason) }
            if let custody = key.custody { writer.member("custody", custody.rawValue) }
            if let fingerprint = key.fingerprint { writer.member("fingerprint", fingerprint.description) }
        }
    }

    private static func write(_ place: KeyBackendReport, to writer: inout JSONWriter) {
        writer.object { writer in
            if let name = place.name { writer.member("name", name) }
            writer.member("health", place.health.name)
            if let reason = place.health.reason { writer.member("reason", reason) }
            if let token = place.token {
                writer.member("label", token.label)
                writer.member("manufacturer", token.manufacturer)
                writer.member("model", token.model)
                writer.member("serial", token.serial)
                writer.member("firmware", token.firmware)
            }
            guard let pool = place.pool else { return }
            writer.member("sessionsWanted", pool.wanted)
            writer.member("sessionsReady", pool.ready)
            writer.member("sessionsBusy", pool.busy)
            writer.member("sessionsStuck", pool.hungCalls)
            writer.member("queueDepth", pool.queueDepth)
            writer.member("queueLimit", pool.queueLimit)
            writer.member("reconnects", pool.reconnects)
        }
    }

    private static func write(_ client: Client, to writer: inout JSONWriter) {
        let standing = client.standing(at: .now())
        writer.object { writer in
            writer.member("name", client.name)
            writer.member("administrator", client.isAdministrator)
            for (name, status) in [("rate" as StaticString, standing.rate), ("dailyQuota", standing.quota)] {
                guard let status else { continue }
                writer.name(name)
                writer.object { writer in
                    writer.member("limit", status.limit)
                    writer.member("remaining", status.remaining)
                }
            }
        }
    }
}

extension GatewayStatus.ListenerState {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name.rawValue)
            writer.member("address", address)
            writer.member("connections", connections)
            if let certificateExpiry { writer.member("certificateExpiry", certificateExpiry) }
        }
    }
}

extension GatewayStatus.Event {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("time", time)
            writer.member("level", level)
            writer.member("message", message)
        }
    }
}

extension KeyBackendHealth {
    var name: String {
        switch self {
        case .ready: "ready"
        case .degraded: "degraded"
        case .unavailable: "unavailable"
        }
    }

    var reason: String? {
        switch self {
        case .ready: nil
        case .degraded(let sentence), .unavailable(let sentence): sentence
        }
    }
}

extension JSONWriter {
    fileprivate mutating func list<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void
    ) {
        self.name(name)
        array { writer in for element in elements { write(element, &writer) } }
    }

    /// Writes two decimal places.
    fileprivate mutating func member(_ name: StaticString, hundredths value: Double) {
        self.name(name)
        raw(Array(Decimals.text(value).utf8))
    }
}
