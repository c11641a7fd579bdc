import HummingbirdCore
import KeyLifecycle
import Signing
import StrictJSON

/// The routes for administrators about the other gateways of the fleet.
struct FleetRoutes {
    let lifecycle: KeyLifecycleService

    func add(to routes: inout Routes) {
        routes.get("/v1/fleet") { _, _ in .json(try lifecycle.fleetOverview()) }
        routes.post("/v1/fleet/{origin}/fence") { request, scope in
            let origin = try scope.parameter("origin")
            let reason = try await KeyRoutes.read(FenceOrder.self, request).reason
            return .json(try await lifecycle.fence(origin, reason: reason, by: scope.administrator))
        }
        routes.post("/v1/fleet/refused-pins/forget") { request, scope in
            let order = try await KeyRoutes.read(ForgetOrder.self, request)
            return .json(
                try await lifecycle.forgetRefusedPINs(of: order.token, reason: order.reason, by: scope.administrator))
        }
    }

    private struct FenceOrder: Decodable {
        let reason: String

        enum CodingKeys: String, ClosedCodingKey {
            case reason
        }
    }

    private struct ForgetOrder: Decodable {
        let token, reason: String

        enum CodingKeys: String, ClosedCodingKey {
            case token, reason
        }
    }
}
