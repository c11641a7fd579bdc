/// Where a listener listens, and how.
public struct ListenerPlan: Sendable {
    public let name: ListenerName
    public let address: ServerAddress
    /// Nil for a listener without TLS.
    public let tls: TLSIdentity?
    public let socket: SocketPermissions

    public init(
        _ name: ListenerName, address: ServerAddress, tls: TLSIdentity? = nil,
        socket: SocketPermissions = SocketPermissions()
    ) {
        self.name = name
        self.address = address
        self.tls = tls
        self.socket = socket
    }

    /// Opens a Unix socket to those who may use it. It is made for its owner alone, as the process' umask has it, so
    /// nobody slips in before.
    func permitSocket() throws(ListenerError) {
        guard case .unixSocket(let path) = address else { return }
        try UnixSocket.permit(socket, at: path)
    }
}

/// Who may connect to a Unix socket: whoever may write to it (unix(7)).
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
