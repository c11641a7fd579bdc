import Glibc
import NIOCore

/// Who is at the other end of a Unix socket, as the kernel noted when it connected.
enum PeerCredentials {
    /// `struct ucred` (unix(7)), which only GNU's headers show.
    private struct Credentials {
        var pid: Int32 = 0
        var uid: UInt32 = 0
        var gid: UInt32 = 0
    }

    /// `SO_PEERCRED` (unix(7)); nil on a socket of another kind.
    static func uid(of channel: any Channel) -> EventLoopFuture<UInt32?> {
        guard case .unixDomainSocket = channel.localAddress, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let credentials: EventLoopFuture<Credentials> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        return credentials.map { $0.uid }
    }
}
