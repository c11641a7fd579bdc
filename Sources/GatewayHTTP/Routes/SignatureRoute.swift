import Hummingbird
import SigningGateway
import SigningKit

/// `POST /v1/apps/{bundleId}/{feature}`: the feature's JSON in, its answer out.
struct SignatureRoute {
    static let path = "/v1/apps/{bundleId}/{feature}"

    let dispatcher: Dispatcher

    @Sendable func respond(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
        let route = try dispatcher.route(
            app: try segment("bundleId", context), feature: try segment("feature", context))
        let body = try await RequestBody.read(request)
        return .json(try await dispatcher.sign(body, along: route))
    }

    private func segment(_ name: String, _ context: BasicRequestContext) throws -> String {
        let encoded = try context.parameters.require(name)
        guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
        guard let decoded = PercentEncoding.decode(encoded.utf8) else { throw HTTPError(.notFound) }
        return decoded
    }
}
