import Glibc
import NIOCore

/// A check of an address before it is used.
enum TCPAddress {
    /// - Parameter name: the address in messages.
    /// - Throws: `ListenerError` if this process cannot bind the address now.
    static func requireFree(_ host: String, _ port: Int, _ name: String) throws(ListenerError) {
        guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: port) else {
            throw .unknownHost(of: name)
        }
        let family = address.protocol == .inet6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // As the listener does: connections that have ended do not block the address.
        var isReusable: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
        let error = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 ? 0 : errno }
        guard error == 0 else { throw .unopened(name, error) }
    }
}
