import NIOCore
import Synchronization

/// What is known of a connection: where it came in, and who is at the other end as far as the transport can tell.
final class Connection: Sendable {
    /// Of the connection whose request is being answered; nil in tests without a socket.
    @TaskLocal static var current: Connection?

    let listener: ListenerName
    private let peer: Mutex<Peer>

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

    func note(_ certificate: PeerCertificate) { peer.withLock { $0.certificate = certificate } }
}
