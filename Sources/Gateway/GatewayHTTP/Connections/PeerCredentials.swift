import Glibc
import NIOCore

/// The peer of a Unix socket, as the kernel noted it when the peer connected.
enum PeerCredentials {
    /// `struct ucred` (unix(7)), which glibc declares only with _GNU_SOURCE.
    private struct Credentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
    }

    /// `SO_PEERCRED` (unix(7)); nil on other kinds of socket.
    static func uid(of channel: any Channel) -> EventLoopFuture<UInt32?> {
        guard case .unixDomainSocket = channel.localAddress, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let credentials: EventLoopFuture<Credentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map { $0.uid }
    }
}
