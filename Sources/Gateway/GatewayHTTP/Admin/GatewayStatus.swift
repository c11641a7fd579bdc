import AuditLog
import GatewayConfiguration
import Signing
import SigningKit
import StrictJSON

/// A warning, an error, or the result of a reload.
public struct ProcessEvent: Encodable, Sendable {
    /// RFC 3339.
    public let time: String
    public let level: String
    public let message: String

    public init(time: String, level: String, message: String) {
        self.time = time
        self.level = level
        self.message = message
    }
}

/// The content of `GET /v1/status`.
struct GatewayStatus {
    struct ListenerState: Encodable {
        let name: ListenerName
        let address: String
        let connections: Int
        /// Expiry of the TLS certificate in seconds since 1970; nil without TLS.
        let certificateExpiry: Int?
    }

    let process: any Administration
    let uptime: Duration
    let isReady: Bool
    /// Nil if the gateway keeps no audit log.
    let audit: AuditLog?
    /// Nil if the gateway belongs to no fleet.
    let fleetLog: AuditLog?
    let listeners: [ListenerState]
    let rates: AnswerReports.Rates
    let keys: [KeyHandle]
    let places: [KeyBackendReport]
    let clients: [Client]

    init(
        _ process: any Administration, _ router: GatewayRouter, _ listeners: [ListenerSettings], _ fleetLog: AuditLog?
    ) async {
        self.fleetLog = fleetLog
        let gateway = router.gateway
        self.process = process
        keys = await router.monitor.report()
        let snapshot = gateway.current
        places = await snapshot.ring.report()
        clients = snapshot.clients.clients
        uptime = .now - process.begun
        isReady = ActiveKeys(among: keys).canSign && gateway.audit?.state.isWritable != false
        audit = gateway.audit
        rates = router.reports.rates
        let connections = router.registry.counts()
        self.listeners = listeners.map { settings in
            ListenerState(
                name: settings.name, address: "\(settings.address)", connections: connections[settings.name] ?? 0,
                certificateExpiry: settings.tls?.expiry)
        }
    }
}

extension GatewayStatus: Encodable {
    func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "version": process.version,
            "time": Timestamp.now(),
            "uptimeSeconds": uptime.components.seconds,
            "configuration": process.configuration,
            "ready": isReady,
            "audit": audit.map(Self.members),
            "fleetLog": fleetLog.map(Self.members),
            "lastReload": process.lastReload,
            "listeners": listeners,
            "requestsPerSecond": [
                "answered": Decimals.rounded(rates.answered), "refused": Decimals.rounded(rates.refused),
                "failed": Decimals.rounded(rates.failed),
            ] as JSONMembers,
            "keys": keys.map(Self.members),
            "tokens": places.filter { $0.pool != nil }.map(Self.members),
            "signers": process.signers,
            "clients": clients.map(Self.members),
            "events": process.events,
        ]
        try members.encode(to: encoder)
    }

    private static func members(of log: AuditLog) -> JSONMembers {
        let (state, publication) = (log.state, log.publication)
        return [
            "state": state.name, "reason": state.reason, "entries": log.entryCount, "freeBytes": log.freeBytes,
            "shortOfSpace": log.isShortOfSpace, "checkpointSize": publication?.size,
            "destinations": publication?.destinations,
            "quorum": log.witnesses.map { witnesses -> JSONMembers in
                [
                    "size": witnesses.quorumSize, "time": witnesses.quorumTime,
                    "complaint": witnesses.quorumComplaint, "witnesses": witnesses.witnesses,
                ]
            },
        ]
    }

    private static func members(of key: KeyHandle) -> JSONMembers {
        [
            "keyId": key.settings.keyID, "issuerId": key.issuerID, "active": key.isActive, "life": key.lifeState,
            "state": key.stateName, "reason": key.state.reason, "custody": key.custody?.rawValue,
            "fingerprint": key.fingerprint,
            "replicas": key.replicas.count > 1 ? key.replicas.map(members) : nil,
        ]
    }

    private static func members(of replica: KeyReplica) -> JSONMembers {
        let state = replica.state
        return [
            "uri": replica.uri.description, "state": state.name, "reason": state.reason,
            "custody": replica.custody?.rawValue, "tokenSerial": replica.tokenSerial,
        ]
    }

    private static func members(of place: KeyBackendReport) -> JSONMembers {
        [
            "name": place.name, "health": place.health.name, "reason": place.health.reason,
            "label": place.token?.label, "manufacturer": place.token?.manufacturer, "model": place.token?.model,
            "serial": place.token?.serial, "firmware": place.token?.firmware,
            "sessionsWanted": place.pool?.wanted, "sessionsReady": place.pool?.ready,
            "sessionsBusy": place.pool?.busy, "sessionsStuck": place.pool?.hungCalls,
            "queueDepth": place.pool?.queueDepth, "queueLimit": place.pool?.queueLimit,
            "reconnects": place.pool?.reconnects,
        ]
    }

    private static func members(of client: Client) -> JSONMembers {
        let standing = client.standing(at: .now())
        let limit = { (status: RateLimitStatus) -> JSONMembers in
            ["limit": status.limit, "remaining": status.remaining]
        }
        return [
            "name": client.name, "administrator": client.isAdministrator, "rate": standing.rate.map(limit),
            "dailyQuota": standing.quota.map(limit),
        ]
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

/// Numbers with two decimal places.
enum Decimals {
    static func rounded(_ value: Double) -> Double { (max(0, min(value, 1e15)) * 100).rounded() / 100 }

    static func text(_ value: Double) -> String {
        let hundredths = Int64((rounded(value) * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
