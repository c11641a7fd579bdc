import Hummingbird
import SigningGateway
import StrictJSON

/// `GET /livez`: the process answers. `GET /readyz`: every active key has signed a proof within the last second or so, and
/// what is signed can be recorded. `GET /readyz?app=BUNDLE-ID`: the same for the account of one app.
struct HealthRoutes {
    static let livePath = "/livez"
    static let readyPath = "/readyz"
    private static let appParameter = "app"

    let gateway: LiveGateway
    let monitor: KeyRingMonitor
    let drain: Drain

    @Sendable func live(_ request: Request, _ context: GatewayContext) async throws -> Response {
        .json(Array(#"{"status":"alive"}"#.utf8))
    }

    @Sendable func ready(_ request: Request, _ context: GatewayContext) async throws -> Response {
        if drain.hasBegun { return .json(Array(#"{"status":"draining"}"#.utf8), status: .serviceUnavailable) }
        let app = try QueryString(request.uri.query)[Self.appParameter]
        let issuerID = try app.map { try self.issuerID(ofApp: $0) }
        let slots = await monitor.report().filter { issuerID == nil || $0.issuerID == issuerID }
        let audit = gateway.audit?.state
        // Without an active key, nothing is signed for the app that names no key.
        let canSign =
            slots.allSatisfy { !$0.isActive || $0.state.canSign } && (app == nil || slots.contains(where: \.isActive))
        let isReady = canSign && audit?.isWritable != false
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("status", isReady ? "ready" : "unready")
            writer.member("audit", audit?.name ?? "off")
            writer.name("keys")
            writer.array { writer in
                for slot in slots {
                    writer.object { writer in
                        writer.member("keyId", slot.plan.keyID)
                        writer.member("active", slot.isActive)
                        writer.member("state", slot.state.name)
                    }
                }
            }
        }
        return .json(writer.bytes, status: isReady ? .ok : .serviceUnavailable)
    }

    private func issuerID(ofApp bundleID: String) throws(Problem) -> String {
        guard let issuerID = gateway.current.dispatcher.issuerID(ofApp: bundleID) else {
            throw Problem(
                .unknownApp, "No app with the bundle ID \"\(bundleID)\" is configured.", field: Self.appParameter)
        }
        return issuerID
    }
}
