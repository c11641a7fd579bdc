import Hummingbird
import SigningGateway

/// `POST /v1/apps/{bundleId}/{feature}`: the feature's JSON in, its answer out.
struct SignatureRoute {
    static let path = "/v1/apps/{bundleId}/{feature}"

    let gateway: LiveGateway
    let registry: ConnectionRegistry

    @Sendable func respond(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let generation = gateway.current
        let client = try Caller.identify(request, context, in: generation)
        let route = try context.route(for: client, in: generation)
        try context.admit(client, along: route, in: generation)
        let body = try await context.body(of: request, in: registry)
        return .json(try await generation.dispatcher.sign(body, along: route))
    }
}
