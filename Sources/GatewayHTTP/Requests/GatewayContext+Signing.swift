import Hummingbird
import SigningGateway
import SigningKit

/// The stages in front of a signature that every route goes through.
extension GatewayContext {
    /// The names in the path, authorised and resolved.
    func route(for client: Client, in generation: GatewayGeneration) throws -> SigningRoute {
        try route(
            for: client, app: try segment("bundleId"), feature: try segment("feature"), keyID: nil, in: generation)
    }

    func route(
        for client: Client, app: String, feature: String, keyID: String?, in generation: GatewayGeneration
    ) throws(GatewayError) -> SigningRoute {
        let route: SigningRoute
        do throws(GatewayError) {
            route = try generation.dispatcher.route(
                for: client, app: app, feature: feature, keyID: keyID,
                request: RequestMark(id: exchange.requestID, begun: exchange.begun))
        } catch {
            let known = generation.dispatcher.known(app: app, feature: feature, keyID: keyID)
            exchange.note { ($0.app, $0.feature, $0.keyID) = (known.app, known.feature, known.keyID) }
            throw error
        }
        // Only what is configured gets this far, so the log holds no names that anybody made up.
        exchange.note {
            $0.app = route.app.bundleID
            $0.feature = route.featureID
            $0.keyID = route.wantedKeyID
        }
        return route
    }

    /// Takes from the client's rate and quota.
    ///
    /// - Parameter taken: requests that were taken before, and are part of `count`.
    func admit(
        _ client: Client, count: Int = 1, taken: Int = 0, along route: SigningRoute, in generation: GatewayGeneration
    ) throws(GatewayError) {
        let standing = try generation.dispatcher.admit(client, count: count, taken: taken, feature: route.featureID)
        exchange.note {
            $0.isAdmitted = true
            if let standing { $0.limit = standing }
        }
    }

    /// Reads the body. Its bytes are in flight until the request is answered.
    func body(
        of request: Request, upTo limit: Int = RequestBody.maximumLength, in registry: ConnectionRegistry
    ) async throws -> [UInt8] {
        let reservation = BodyReservation(
            registry.bodies, client: exchange.known.client ?? "", within: registry.bounds)
        exchange.note { $0.body = reservation }
        return try await RequestBody.read(request, upTo: limit, reservation)
    }

    private func segment(_ name: String) throws -> String {
        let encoded = try parameters.require(name)
        guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
        guard let decoded = PercentEncoding.decode(encoded.utf8) else { throw HTTPError(.notFound) }
        return decoded
    }
}
