import NIOCore
import Synchronization

/// Every connection that is open, on whatever listener.
public final class ConnectionRegistry: Sendable {
    /// Of the admin and the metrics listener each.
    private static let operatorLimit = 64

    private let open = Mutex<[ObjectIdentifier: Entry]>([:])
    private let limits: Mutex<ConnectionBounds>
    /// Of the requests on all listeners.
    let bodies = BodyBudget()

    private struct Entry {
        let channel: any Channel
        let connection: Connection
    }

    public init(_ bounds: ConnectionBounds) {
        limits = Mutex(bounds)
    }

    /// Connections that are open already keep the bounds that they began with.
    public var bounds: ConnectionBounds {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    /// What an operator asks for may take as long as a token takes to open.
    func bounds(of listener: ListenerName) -> ConnectionBounds {
        var bounds = bounds
        if listener == .admin { bounds.requestTimeout = max(bounds.requestTimeout, .minutes(5)) }
        return bounds
    }

    /// By listener.
    public func counts() -> [ListenerName: Int] {
        open.withLock { open in open.values.reduce(into: [:]) { $0[$1.connection.listener, default: 0] += 1 } }
    }

    /// Of the request bodies that are in flight.
    public var bodyBytes: Int { bodies.total }

    /// - Returns: false when there are as many as may be.
    func enter(_ channel: any Channel, _ connection: Connection, limit: Int) -> Bool {
        open.withLock { open in
            // Each listener has room of its own: whoever fills one does not shut the others.
            let limit = connection.listener == .public ? limit : min(limit, Self.operatorLimit)
            let count = open.values.count { $0.connection.listener == connection.listener }
            guard count < limit else { return false }
            open[ObjectIdentifier(channel)] = Entry(channel: channel, connection: connection)
            return true
        }
    }

    func leave(_ channel: any Channel) {
        open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Ends the connections of a listener that its new trust roots do not allow. Requests that are under way are answered
    /// first, and handshakes that have begun have a moment to end: their certificates are compared then.
    func noteTrust(_ listener: ListenerName, of identity: TLSIdentity) {
        let entries = open.withLock { open in open.values.filter { $0.connection.listener == listener } }
        for entry in entries {
            // Forget the certificate here: a request that the event loop reads before the event is not let in by it. Where
            // there is no certificate yet, the event loop judges: the handshake may be under way.
            let certificate = entry.connection.knownPeer.certificate
            let hasLostCertificate = certificate.map { !identity.trusts($0) } ?? false
            if hasLostCertificate { entry.connection.forgetCertificate() }
            entry.channel.pipeline.fireUserInboundEventTriggered(
                TrustChange(identity: identity, hasLostCertificate: hasLostCertificate))
        }
    }
}
