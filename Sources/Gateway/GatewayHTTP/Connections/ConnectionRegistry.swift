public import GatewayConfiguration
import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// All open connections of all listeners.
public final class ConnectionRegistry: Sendable {
    /// The limit of the admin listener and of the metrics listener, each.
    private static let adminLimit = 64

    private let open = Mutex<[ListenerName: [ObjectIdentifier: Entry]]>([:])
    private let limits: Mutex<GatewayConfiguration.Limits>
    let bodies = BodyBudget()

    private typealias Entry = (channel: any Channel, connection: Connection)

    public init(_ bounds: GatewayConfiguration.Limits) {
        limits = Mutex(bounds)
    }

    /// Open connections keep the timeouts and header limits that they began with.
    public var bounds: GatewayConfiguration.Limits {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    /// The admin listener allows five minutes for a request, because opening a token may take long.
    func bounds(of listener: ListenerName) -> GatewayConfiguration.Limits {
        var bounds = bounds
        if listener == .admin { bounds.requestTimeout = max(bounds.requestTimeout, .seconds(300)) }
        return bounds
    }

    /// Open connections of each listener.
    public func counts() -> [ListenerName: Int] { open.withLock { $0.mapValues(\.count) } }

    /// Bytes of the request bodies in flight.
    public var bodyBytes: Int { bodies.total }

    /// - Returns: false if the limit is reached.
    func enter(_ channel: any Channel, _ connection: Connection, limit: Int) -> Bool {
        let listener = connection.listener
        // Each listener has its own limit, so that a full one does not block the others.
        let limit = listener == .public ? limit : min(limit, Self.adminLimit)
        return open.withLock { open in
            guard open[listener, default: [:]].count < limit else { return false }
            open[listener, default: [:]][ObjectIdentifier(channel)] = (channel, connection)
            return true
        }
    }

    func leave(_ channel: any Channel, _ listener: ListenerName) {
        open.withLock { $0[listener]?[ObjectIdentifier(channel)] = nil }
    }

    /// Ends the listener's connections that its new trust roots do not allow. Requests in progress get their answers
    /// first. Handshakes in progress get a moment to complete, and then compare their certificates.
    func noteTrust(_ listener: ListenerName, of identity: TLSIdentity) {
        for entry in open.withLock({ Array($0[listener, default: [:]].values) }) {
            // Remove the certificate here, so that it does not authenticate a request that the event loop reads before
            // this event. Without a certificate the handshake may be in progress, so the event loop decides.
            let certificate = entry.connection.knownPeer.certificate
            let hasLostCertificate = certificate.map { !identity.trusts($0) } ?? false
            if hasLostCertificate { entry.connection.forgetCertificate() }
            entry.channel.pipeline.fireUserInboundEventTriggered(
                TrustRootChange(identity: identity, hasLostCertificate: hasLostCertificate))
        }
    }
}

/// The event that a listener's trust roots have changed since the connection began.
struct TrustRootChange: Sendable {
    let identity: TLSIdentity
    /// Whether the new trust roots do not verify the connection's certificate, which is then already removed.
    let hasLostCertificate: Bool
}

/// A connection's listener, and its peer as far as the transport identifies it.
final class Connection: Sendable {
    let listener: ListenerName
    private let peer: Mutex<Peer>
    private let scope = Mutex<RequestScope?>(nil)

    struct Peer: Sendable {
        /// The uid of the process at the other end of a Unix socket.
        var uid: UInt32?
        /// The certificate that the TLS handshake verified.
        var certificate: PeerCertificate?
    }

    init(_ listener: ListenerName, peer: Peer = Peer()) {
        self.listener = listener
        self.peer = Mutex(peer)
    }

    var knownPeer: Peer { peer.withLock { $0 } }

    /// Called when the trust roots no longer verify the certificate.
    func forgetCertificate() { peer.withLock { $0.certificate = nil } }

    /// Called when the trust roots have changed and still verify the certificate.
    func renewIssuers(by identity: TLSIdentity) {
        guard let certificate = knownPeer.certificate else { return }
        let renewed = identity.noteIssuers(of: certificate)
        // If another thread removed the certificate meanwhile, it stays removed.
        peer.withLock { if $0.certificate != nil { $0.certificate = renewed } }
    }

    func note(_ certificate: PeerCertificate) { peer.withLock { $0.certificate = certificate } }

    func begin(_ scope: RequestScope) { self.scope.withLock { $0 = scope } }

    func finish() { scope.withLock { $0 = nil } }

    /// - Returns: the request in progress, which reports the problem that ends the connection; nil if there is none.
    func end(with kind: ProblemKind) -> RequestScope? {
        scope.withLock { scope in
            scope?.note { $0.ending = kind }
            return scope
        }
    }
}

/// The bytes of request bodies in flight, from their arrival to the answer.
final class BodyBudget: Sendable {
    private struct State {
        var total = 0
        var clients: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// - Throws: `too-many-bytes`; nothing is reserved then.
    func take(_ count: Int, for client: String, within bounds: GatewayConfiguration.Limits) throws(Problem) {
        try state.withLock { state throws(Problem) in
            let own = state.clients[client, default: 0]
            guard count <= bounds.clientBodyBytes - own else { throw .tooManyBytes(client: client) }
            guard count <= bounds.totalBodyBytes - state.total else { throw .tooManyBytes(client: nil) }
            state.clients[client] = own + count
            state.total += count
        }
    }

    func release(_ count: Int, for client: String) {
        state.withLock { state in
            state.total -= count
            let rest = state.clients[client, default: 0] - count
            state.clients[client] = rest > 0 ? rest : nil
        }
    }

    var total: Int { state.withLock { $0.total } }
}

/// The first step of a shutdown: `/readyz` answers 503 and everything else continues, so load balancers can notice.
public final class Drain: Service {
    private let delay: Duration
    private let begun = Atomic<Bool>(false)

    /// - Parameter delay: the time between the first 503 and the end of the listeners.
    public init(delay: Duration) {
        self.delay = delay
    }

    public var hasBegun: Bool { begun.load(ordering: .acquiring) }

    public func run() async throws {
        try await gracefulShutdown()
        begun.store(true, ordering: .releasing)
        Logger(label: "privyseal.services").info("Stopping", metadata: ["drainDelay": "\(delay)"])
        try await Task.sleep(for: delay)
    }
}
