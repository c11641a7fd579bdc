public import GatewayConfiguration
import NIOCore
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
