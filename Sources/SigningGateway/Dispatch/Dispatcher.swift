import Crypto
public import SigningKit

/// The straight line from names and bytes to a sealed answer. No stage calls an earlier one.
public struct Dispatcher: Sendable {
    public let features: [FeatureDescriptor]
    private let apps: [String: ServedApp]
    private let grants: GrantIssuer

    /// - Parameter features: those that may be served; each app's plan says which of them it has.
    public init(
        _ plan: GatewayPlan, features: [ServedFeature], ring: KeyRing, grants: GrantIssuer = GrantIssuer()
    ) {
        self.features = features.map(\.descriptor)
        self.grants = grants
        var apps: [String: ServedApp] = [:]
        for account in plan.accounts {
            let keys = ring.slots.filter { $0.issuerID == account.issuerID }
            for app in account.apps {
                apps[app.bundleID] = ServedApp(app, of: account, features: features, keys: keys)
            }
        }
        self.apps = apps
    }

    /// Resolves the names of a request.
    ///
    /// - Parameter keyID: nil for the account's active key.
    public func route(app bundleID: String, feature: String, keyID: String? = nil) throws(GatewayError) -> SigningRoute
    {
        guard let app = apps[bundleID] else { throw .unknownApp(bundleID) }
        guard let feature = app.features[feature] else { throw .unknownFeature(feature, app: bundleID) }
        guard let key = app.key(keyID) else { throw .unknownKey(keyID ?? "", app: bundleID) }
        return SigningRoute(app: key.identity, key: key.slot, feature: feature)
    }

    /// From a request's JSON to the answer's.
    public func sign(_ body: [UInt8], along route: SigningRoute) async throws(GatewayError) -> [UInt8] {
        try await route.feature.answer(self, body, route)
    }

    /// From a decoded request to the sealed answer.
    public func sign<Feature: SigningFeature>(
        _ feature: Feature, _ input: Feature.Input, along route: SigningRoute
    ) async throws(GatewayError) -> Feature.Output {
        let grant = grants.issue(for: route.app)
        let draft: Draft<Feature.Output>
        do { draft = try feature.compose(input, for: grant) } catch { throw .request(error) }
        do {
            return draft.seal(try await route.key.sign(SHA256.hash(data: draft.signingInput)))
        } catch {
            throw .key(error, keyID: route.app.keyID)
        }
    }
}
