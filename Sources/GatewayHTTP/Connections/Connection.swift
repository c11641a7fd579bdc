import NIOCore
import Synchronization

/// What is known of a connection: where it came in, and who is at the other end as far as the transport can tell.
final class Connection: Sendable {
    /// Of the connection whose request is being answered; nil in tests without a socket.
    @TaskLocal static var current: Connection?

    let listener: ListenerName
    private let peer: Mutex<Peer>
    /// What is being answered.
    private let exchange = Mutex<Exchange?>(nil)

    struct Peer: Sendable {
        /// Of the process at the other end of a Unix socket.
        var uid: UInt32?
        /// What the TLS handshake proved.
        var certificate: PeerCertificate?
    }

    init(_ listener: ListenerName, peer: Peer = Peer()) {
        self.listener = listener
        self.peer = Mutex(peer)
    }

    var knownPeer: Peer { peer.withLock { $0 } }

    /// What it proved is not believed any more.
    func forgetCertificate() { peer.withLock { $0.certificate = nil } }

    /// The trust roots have changed, and vouch for the certificate still.
    func renewIssuers(by identity: TLSIdentity) {
        guard let certificate = knownPeer.certificate else { return }
        let renewed = identity.noteIssuers(of: certificate)
        // A certificate that was forgotten in between stays forgotten.
        peer.withLock { if $0.certificate != nil { $0.certificate = renewed } }
    }

    func note(_ certificate: PeerCertificate) { peer.withLock { $0.certificate = certificate } }

    func begin(_ exchange: Exchange) { self.exchange.withLock { $0 = exchange } }

    func finish() { exchange.withLock { $0 = nil } }

    /// The connection is about to be ended with a problem.
    ///
    /// - Returns: the exchange that thereby has its answer, and will tell of it; nil when none is under way.
    func end(with kind: ProblemKind) -> Exchange? {
        exchange.withLock { exchange in
            exchange?.note { $0.ending = kind }
            return exchange
        }
    }
}
