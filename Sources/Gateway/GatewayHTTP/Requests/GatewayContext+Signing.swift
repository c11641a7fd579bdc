import Encodings
import Hummingbird
import Signing
import SigningKit

/// The steps before a signature that all signing routes share.
extension GatewayContext {
    /// Authorizes and resolves the names in the path.
    func route(for client: Client, in snapshot: ConfigurationSnapshot) throws -> ResolvedRequest {
        try route(
            for: client, app: try segment("bundleId"), feature: try segment("feature"), keyID: nil, in: snapshot)
    }

    func route(
        for client: Client, app: String, feature: String, keyID: String?, in snapshot: ConfigurationSnapshot
    ) throws(GatewayError) -> ResolvedRequest {
        let route: ResolvedRequest
        do throws(GatewayError) {
            route = try snapshot.dispatcher.resolve(
                for: client, app: app, feature: feature, keyID: keyID,
                request: RequestIdentity(id: scope.requestID, begun: scope.begun))
        } catch {
            let known = snapshot.dispatcher.known(app: app, feature: feature, keyID: keyID)
            scope.note { ($0.app, $0.feature, $0.keyID) = (known.app, known.feature, known.keyID) }
            throw error
        }
        // Only configured names get here, so the log holds no invented names.
        scope.note {
            $0.app = route.app.bundleID
            $0.feature = route.featureID
            $0.keyID = route.wantedKeyID
        }
        return route
    }

    /// - Parameter taken: the part of `count` that was charged to the client's rate and quota before.
    func admit(
        _ client: Client, count: Int = 1, taken: Int = 0, for route: ResolvedRequest,
        in snapshot: ConfigurationSnapshot
    ) throws(GatewayError) {
        let standing = try snapshot.dispatcher.admit(client, count: count, taken: taken, feature: route.featureID)
        scope.note {
            $0.isAdmitted = true
            if let standing { $0.limit = standing }
        }
    }

    /// Reads the body. Its bytes are in flight until the request is answered.
    func body(
        of request: Request, upTo limit: Int = RequestBody.maximumLength, in registry: ConnectionRegistry
    ) async throws -> [UInt8] {
        let reservation = BodyReservation(
            registry.bodies, client: scope.known.client ?? "", within: registry.bounds)
        scope.note { $0.body = reservation }
        return try await RequestBody.read(request, upTo: limit, reservation)
    }

    private func segment(_ name: String) throws -> String {
        let encoded = try parameters.require(name)
        guard encoded.utf8.contains(UInt8(ascii: "%")) else { return encoded }
        guard let decoded = PercentEncoding.decode(encoded.utf8) else { throw HTTPError(.notFound) }
        return decoded
    }
}
