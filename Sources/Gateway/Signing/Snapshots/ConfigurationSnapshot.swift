import AuditLog
public import SigningKit

/// Everything that one configuration serves. A request keeps the snapshot with which it began.
public final class ConfigurationSnapshot: Sendable {
    public let ring: KeyRing
    public let dispatcher: Dispatcher
    public let clients: ClientDirectory
    /// Nil for a gateway without an audit log.
    public let audit: SigningAudit?
    private let accounts: [AccountSettings]
    private let clientSettings: [ClientSettings]
    let proofInterval: Duration
    /// The signal that the snapshot is released and its last request has ended.
    let onRelease: AsyncSignal

    /// Opens no key.
    ///
    /// - Parameters:
    ///   - predecessor: the current snapshot. The new one takes over what is the same in both.
    ///   - rejected: the keys of a rejected configuration. A PIN that was refused there is not tried again.
    public init(
        _ settings: GatewaySettings, features: [ServedFeature], backends: [any KeyBackend.Type],
        secrets: any SecretSource,
        grants: GrantIssuer = GrantIssuer(), inheriting predecessor: ConfigurationSnapshot? = nil,
        rejected: KeyRing? = nil,
        audit: SigningAudit? = nil
    ) {
        self.audit = audit
        accounts = settings.accounts
        clientSettings = settings.clients
        proofInterval = settings.proofInterval
        ring = KeyRing(
            settings, backends: backends, secrets: secrets, inheriting: predecessor?.ring, rejected: rejected,
            audit: audit)
        let snapshotLease = SnapshotLease()
        onRelease = snapshotLease.onRelease
        clients = ClientDirectory(settings, inheriting: predecessor?.clients)
        dispatcher = Dispatcher(
            settings, features: features, ring: ring, snapshotLease: snapshotLease, grants: grants, audit: audit)
    }

    /// Declares the keys to the key states. Call it when the snapshot begins to serve: a rejected configuration must
    /// leave nothing in the register.
    public func declareKeys() {
        audit?.keyStates.declare(accounts, clients: clientSettings, at: ClockMonitor.systemTime())
    }
}

/// Keeps the keys of a snapshot open for a request. It signals when the last reference is released.
///
/// The snapshot itself cannot do this: a task may release it after its last use of it, before the task waits for the
/// signature. The lease stays with the request.
final class SnapshotLease: Sendable {
    let onRelease = AsyncSignal()

    deinit {
        onRelease.signal()
    }
}
