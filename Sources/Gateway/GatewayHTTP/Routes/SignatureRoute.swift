import Hummingbird
import Signing

/// `POST /v1/apps/{bundleId}/{feature}`: signs one JSON request of a feature.
struct SignatureRoute {
    static let path = "/v1/apps/{bundleId}/{feature}"

    let gateway: SnapshotHolder
    let registry: ConnectionRegistry

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let snapshot = gateway.current
        let client = try Caller.identify(request, context, in: snapshot)
        let route = try context.route(for: client, in: snapshot)
        try context.admit(client, for: route, in: snapshot)
        let body = try await context.body(of: request, in: registry)
        return .json(try await snapshot.dispatcher.sign(body, for: route))
    }
}
