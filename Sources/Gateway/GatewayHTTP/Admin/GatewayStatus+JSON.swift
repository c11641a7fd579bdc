import GatewayConfiguration
import Signing
import SigningKit
import StrictJSON

extension GatewayStatus: Encodable {
    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "version": version,
            "uptimeSeconds": uptime.components.seconds,
            "configuration": configuration,
            "ready": isReady,
            "audit": audit,
            "lastReload": lastReload,
            "listeners": listeners,
            "requestsPerSecond": [
                "answered": Decimals.rounded(totals.answered), "refused": Decimals.rounded(totals.refused),
                "failed": Decimals.rounded(totals.failed),
            ] as JSONMembers,
            "keys": keys.map(Self.members),
            "tokens": places.filter { $0.pool != nil }.map(Self.members),
            "clients": clients.map(Self.members),
            "events": events,
        ]
        try members.encode(to: encoder)
    }

    private static func members(of key: KeyHandle) -> JSONMembers {
        [
            "keyId": key.settings.keyID, "issuerId": key.issuerID, "active": key.isActive, "life": key.lifeState,
            "state": key.state.name, "reason": key.state.reason, "custody": key.custody?.rawValue,
            "fingerprint": key.fingerprint,
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
