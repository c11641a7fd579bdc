import Synchronization

/// A connection's listener, and its peer as far as the transport identifies it.
final class Connection: Sendable {
    let listener: ListenerName
    private let peer: Mutex<Peer>
    private let scope = Mutex<RequestScope?>(nil)
    let pipeline = Pipeline()

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
            scope?.note { ($0.ending, $0.endedAt) = (kind, .now) }
            return scope
        }
    }
}
