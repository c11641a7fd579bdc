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

    /// Sets the owner and mode of a Unix socket. Until then, the process' umask lets only its owner connect.
    func setSocketPermissions() throws(ListenerError) {
        guard case .unixSocket(let path) = address else { return }
        try UnixSocket.setPermissions(socket, at: path)
    }
}

/// The owner and mode of a Unix socket. A process may connect if it may write to the socket (unix(7)).
public struct SocketPermissions: Sendable {
    public var mode: UInt32
    /// Nil for the process' own.
    public var uid: UInt32?
    public var gid: UInt32?

    public init(mode: UInt32 = 0o600, uid: UInt32? = nil, gid: UInt32? = nil) {
        self.mode = mode
        self.uid = uid
        self.gid = gid
    }
}
