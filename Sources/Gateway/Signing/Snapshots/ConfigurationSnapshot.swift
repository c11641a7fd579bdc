import AuditKit
public import AuditLog
public import ServiceLifecycle
public import SigningKit
import Synchronization
public import WorkloadIdentities

/// Everything that one configuration serves. A request keeps the snapshot with which it began.
public final class ConfigurationSnapshot: Sendable {
    public let ring: KeyRing
    public let dispatcher: Dispatcher
    public let clients: ClientDirectory
    public let issuers: IssuerDirectory
    /// Nil for a gateway without an audit log.
    public let audit: SigningAudit?
    private let settings: GatewaySettings
    var proofInterval: Duration { settings.proofInterval }
    /// The signal that the snapshot is released and its last request has ended.
    var onRelease: AsyncSignal { dispatcher.snapshotLease.onRelease }

    /// Opens no key.
    ///
    /// - Parameters:
    ///   - predecessor: the current snapshot. The new one takes over what is the same in both.
    ///   - rejected: the keys of a rejected configuration. A PIN that was refused there is not tried again.
    public init(
        _ settings: GatewaySettings, features: [ServedFeature], profiles: [ServiceProfile] = [],
        backends: [any KeyBackend.Type], secrets: any SecretSource, grants: GrantIssuer = GrantIssuer(),
        inheriting predecessor: ConfigurationSnapshot? = nil, rejected: KeyRing? = nil, audit: SigningAudit? = nil
    ) {
        self.audit = audit
        self.settings = settings
        ring = KeyRing(
            settings, backends: backends, secrets: secrets, inheriting: predecessor?.ring, rejected: rejected,
            audit: audit)
        clients = ClientDirectory(settings, inheriting: predecessor?.clients)
        issuers = IssuerDirectory(settings.issuers, inheriting: predecessor?.issuers)
        dispatcher = Dispatcher(
            settings, features: features, profiles: profiles, ring: ring, grants: grants,
            tokens: predecessor?.dispatcher.tokens ?? ServiceTokenCache(), audit: audit)
    }

    /// Declares the keys to the key states. Call it when the snapshot begins to serve: a rejected configuration must
    /// leave nothing in the register.
    public func declareKeys() {
        audit?.keyStates.declare(settings.accounts, clients: settings.clients, at: Timestamp.now())
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

/// Holds the current snapshot. After a replacement and the last request of the old snapshot, it closes the connections
/// that the new snapshot does not use.
public final class SnapshotHolder: Service {
    private let snapshot: Mutex<ConfigurationSnapshot>
    private let retired: AsyncStream<Retirement>
    private let retire: AsyncStream<Retirement>.Continuation

    private struct Retirement {
        let ring: KeyRing
        let successor: KeyRing
        let onRelease: AsyncSignal
    }

    /// How long requests of an old snapshot can keep its keys open. Requests have deadlines of their own.
    private static let timeout = Duration.seconds(60)

    public init(_ snapshot: ConfigurationSnapshot) {
        snapshot.declareKeys()
        self.snapshot = Mutex(snapshot)
        (retired, retire) = AsyncStream.makeStream()
    }

    public var current: ConfigurationSnapshot { snapshot.withLock { $0 } }

    /// The same for all snapshots; nil for a gateway without an audit log.
    public var audit: AuditLog? { current.dispatcher.audit }

    /// Makes later requests use `successor`.
    public func replace(with successor: ConfigurationSnapshot) {
        successor.declareKeys()
        let retirement = snapshot.withLock { snapshot in
            defer { snapshot = successor }
            return Retirement(ring: snapshot.ring, successor: successor.ring, onRelease: snapshot.onRelease)
        }
        recordRemovals(retirement)
        retire.yield(retirement)
    }

    private func recordRemovals(_ retirement: Retirement) {
        guard let audit else { return }
        let remaining = Set(retirement.successor.handles.map(\.settings.keyID))
        for handle in retirement.ring.handles where !remaining.contains(handle.settings.keyID) {
            audit.note(handle.event(state: "removed"))
        }
    }

    /// Closes the keys of a rejected configuration. It records their real states, because the test of the configuration
    /// may have recorded others.
    public func reject(_ candidate: KeyRing) async {
        let serving = current.ring
        await candidate.close(except: serving)
        guard let audit else { return }
        for handle in candidate.handles where handle.isRecorded {
            let known = serving.handles.first { $0.settings.keyID == handle.settings.keyID }
            if known?.isSame(as: handle) == true { continue }
            audit.note(known.map { $0.event(of: $0.state) } ?? handle.event(state: "removed"))
        }
    }

    /// Closes the rings of old snapshots, in the order of their replacement; at shutdown, the current one, too.
    public func run() async throws {
        await withGracefulShutdownHandler {
            for await retirement in retired {
                await retirement.onRelease.wait(atMost: Self.timeout)
                await retirement.ring.close(except: retirement.successor)
            }
        } onGracefulShutdown: {
            self.retire.finish()
        }
        await current.ring.close()
    }
}
