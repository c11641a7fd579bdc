import Hummingbird
import SigningGateway
import StrictJSON

/// `GET /livez`: the process answers. `GET /readyz`: every active key has signed a proof within the last second or so, and
/// what is signed can be recorded.
struct HealthRoutes {
    static let livePath = "/livez"
    static let readyPath = "/readyz"

    let gateway: LiveGateway
    let monitor: KeyRingMonitor
    let drain: Drain

    @Sendable func live(_ request: Request, _ context: GatewayContext) async throws -> Response {
        .json(Array(#"{"status":"alive"}"#.utf8))
    }

    @Sendable func ready(_ request: Request, _ context: GatewayContext) async throws -> Response {
        if drain.hasBegun { return .json(Array(#"{"status":"draining"}"#.utf8), status: .serviceUnavailable) }
        let slots = await monitor.report()
        let audit = gateway.audit?.state
        let isReady = slots.allSatisfy { !$0.isActive || $0.state.canSign } && audit?.isWritable != false
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
}
