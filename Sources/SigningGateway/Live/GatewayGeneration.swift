public import SigningKit

/// Everything that one configuration serves. A request holds on to the generation that it began with, whatever comes
/// after it.
public final class GatewayGeneration: Sendable {
    public let ring: KeyRing
    public let dispatcher: Dispatcher
    /// Rings when the last request has let go of the generation.
    let farewell = Doorbell()

    /// Opens no key yet.
    ///
    /// - Parameter predecessor: the generation that serves until this one does; what is the same in both is handed on.
    public init(
        _ plan: GatewayPlan, features: [ServedFeature], backends: [any KeyBackend.Type], secrets: any SecretSource,
        grants: GrantIssuer = GrantIssuer(), inheriting predecessor: GatewayGeneration? = nil
    ) {
        ring = KeyRing(plan, backends: backends, secrets: secrets, inheriting: predecessor?.ring)
        dispatcher = Dispatcher(plan, features: features, ring: ring, grants: grants)
    }

    deinit {
        farewell.ring()
    }
}
