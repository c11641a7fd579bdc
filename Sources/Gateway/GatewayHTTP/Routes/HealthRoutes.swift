import AuditLog
import HTTPTypes
import HummingbirdCore
import Signing
import StrictJSON

/// `GET /livez`: the process answers. `GET /readyz`: every active key has signed a proof within about the last second,
/// at one of its places, and the audit log is writable. `GET /readyz?app=BUNDLE-ID`: the same for the account of one app.
struct HealthRoutes {
    private static let appParameter = "app"

    let gateway: SnapshotHolder
    let monitor: KeyRingMonitor
    let drain: Drain

    @Sendable func alive(_ request: Request, _ scope: RequestScope) async throws -> Response {
        .json(["status": "alive"])
    }

    @Sendable func ready(_ request: Request, _ scope: RequestScope) async throws -> Response {
        if drain.hasBegun { return .json(["status": "draining"], status: .serviceUnavailable) }
        let app = try QueryString(request.uri.query, allowing: [Self.appParameter])[Self.appParameter]
        let issuerID = try app.map { try self.issuerID(ofApp: $0) }
        let handles = await monitor.report().filter { issuerID == nil || $0.issuerID == issuerID }
        let audit = gateway.audit?.state
        let active = ActiveKeys(among: handles)
        // Without an active key, the gateway cannot sign requests that name no key.
        let canSign = active.canSign && (app == nil || !active.isEmpty)
        let isReady = canSign && audit?.isWritable != false
        let configured = handles.map { handle -> JSONMembers in
            ["keyId": handle.settings.keyID, "active": handle.isActive, "state": handle.stateName]
        }
        let unconfigured = active.unconfigured.map { keyID -> JSONMembers in
            ["keyId": keyID, "active": true, "state": KeyState.refusedName]
        }
        let answer: JSONMembers = [
            "status": isReady ? "ready" : "unready", "audit": audit?.name ?? "off",
            "keys": configured + unconfigured,
        ]
        return .json(answer, status: isReady ? .ok : .serviceUnavailable)
    }

    private func issuerID(ofApp bundleID: String) throws(Problem) -> String {
        guard let issuerID = gateway.current.dispatcher.issuerID(ofApp: bundleID) else {
            throw Problem(
                .unknownApp, "No app with the bundle ID \"\(bundleID)\" is configured.", field: Self.appParameter)
        }
        return issuerID
    }
}
