public import SigningKit

/// Everything that one configuration serves. A request holds on to the generation that it began with, whatever comes
/// after it.
public final class GatewayGeneration: Sendable {
    public let ring: KeyRing
    public let dispatcher: Dispatcher
    public let clients: ClientDirectory
    private let accounts: [AccountPlan]
    private let clientPlans: [ClientPlan]
    /// Between two proofs of an idle key.
    let proofInterval: Duration
    /// Rings when the generation is gone and its last request has ended.
    let farewell: Doorbell

    /// Opens no key yet.
    ///
    /// - Parameters:
    ///   - predecessor: the generation that serves until this one does; what is the same in both is handed on.
    ///   - audit: nil for a gateway that keeps no record.
    ///   - rejected: keys of a configuration that was refused; a PIN that was refused there is not tried again.
    public init(
        _ plan: GatewayPlan, features: [ServedFeature], backends: [any KeyBackend.Type], secrets: any SecretSource,
        grants: GrantIssuer = GrantIssuer(), inheriting predecessor: GatewayGeneration? = nil, rejected: KeyRing? = nil,
        audit: AuditLog? = nil
    ) {
        accounts = plan.accounts
        clientPlans = plan.clients
        proofInterval = plan.proofInterval
        ring = KeyRing(
            plan, backends: backends, secrets: secrets, inheriting: predecessor?.ring, rejected: rejected,
            audit: audit)
        let lease = Lease()
        farewell = lease.farewell
        clients = ClientDirectory(plan, inheriting: predecessor?.clients)
        dispatcher = Dispatcher(plan, features: features, ring: ring, lease: lease, grants: grants, audit: audit)
    }

    /// From now on its keys are those that the configuration declares. Not before it serves: a configuration that is refused
    /// must not leave anything in the register.
    public func declareKeys() {
        dispatcher.audit?.keys.declare(accounts, clients: clientPlans, at: GrantIssuer.systemTime())
    }
}
