import Glibc
import NIOCore

/// Who is at the other end of a Unix socket, as the kernel noted when it connected.
enum PeerCredentials {
    /// `SO_PEERCRED` (unix(7)); nil on a socket of another kind.
    static func uid(of channel: any Channel) -> EventLoopFuture<UInt32?> {
        guard case .unixDomainSocket = channel.localAddress, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let credentials: EventLoopFuture<ucred> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map { $0.uid }
    }
}
