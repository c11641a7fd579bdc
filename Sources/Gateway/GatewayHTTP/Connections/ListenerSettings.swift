public import GatewayConfiguration

/// The address and options of a listener.
public struct ListenerSettings: Sendable {
    public let name: ListenerName
    public let address: GatewayConfiguration.ListenAddress
    /// Nil for a listener without TLS.
    public let tls: TLSIdentity?
    public let socket: SocketPermissions

    public init(
        _ name: ListenerName, address: GatewayConfiguration.ListenAddress, tls: TLSIdentity? = nil,
        socket: SocketPermissions = SocketPermissions()
    ) {
        self.name = name
        self.address = address
        self.tls = tls
        self.socket = socket
    }

    /// Call it before a start changes a key or a record, so that a start that must fail changes nothing.
    ///
    /// - Throws: if this process cannot listen at the address now.
    public func requireFreeAddress() throws(ListenerError) {
        switch address {
        case .tcp(let host, let port): try TCPAddress.requireFree(host, port, "\(address)")
        case .unixSocket(let path): try UnixSocket.requireFree(path)
        }
    }

    /// The same without the faults that a start of the service can remove: another process has the address, such as the
    /// running gateway; this user has fewer rights than the service; or systemd makes the directory (`RuntimeDirectory`).
    public func requireUsableAddress() throws(ListenerError) {
        do throws(ListenerError) { try requireFreeAddress() } catch {
            switch error {
            case .occupied, .forbidden: return
            case .noDirectory(let directory, _) where directory.hasPrefix("/run/"): return
            case .noDirectory, .unusable: throw error
            }
        }
    }
}
