public import GatewayConfiguration
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
import Synchronization

public typealias ListenerName = GatewayConfiguration.Listener.Role

/// Accepts connections at an address; its routes answer their requests.
public struct Listener: Service {
    private let settings: ListenerSettings
    private let channel: GatewayChannel
    private let onRunning: @Sendable (GatewayConfiguration.ListenAddress) -> Void

    /// - Parameter onRunning: called when the listener accepts connections, with the bound address.
    /// - Throws: if the address cannot be opened. Binding a Unix socket would take the path from another process.
    public init(
        _ settings: ListenerSettings, router: GatewayRouter, routes: Routes,
        onRunning: @escaping @Sendable (GatewayConfiguration.ListenAddress) -> Void = { _ in }
    ) throws(ListenerError) {
        try settings.requireFreeAddress()
        self.settings = settings
        channel = GatewayChannel(
            listener: settings.name, registry: router.registry, identity: settings.tls, routes: routes,
            drain: router.drain)
        self.onRunning = onRunning
    }

    public func run() async throws {
        // The program logs the events of its listeners itself, so Hummingbird logs nothing below notice.
        var logger = Logger(label: "privyseal.http.\(settings.name.rawValue)")
        logger.logLevel = max(logger.logLevel, .notice)
        let failure = Mutex<ListenerError?>(nil)
        let address: BindAddress =
            switch settings.address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unixSocket(let path): .unixDomainSocket(path: path)
            }
        let server = channel.server(
            configuration: ServerConfiguration(address: address, backlog: 1024),
            onServerRunning: { [settings, onRunning] channel in
                do throws(ListenerError) {
                    // Until then, the process' umask lets only its owner connect.
                    if case .unixSocket(let path) = settings.address {
                        try UnixSocket.setPermissions(settings.socket, at: path)
                    }
                    // The port that the system chose, if the configured one is 0.
                    if case .tcp(let host, _) = settings.address, let port = channel.localAddress?.port {
                        onRunning(.tcp(host: host, port: port))
                    } else {
                        onRunning(settings.address)
                    }
                } catch {
                    failure.withLock { $0 = error }
                    channel.close(promise: nil)
                }
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        do {
            try await server.run()
        } catch is SocketAddressError.UnknownHost {
            throw ListenerError.unknownHost(of: "\(settings.address)")
        } catch let error as IOError {
            throw ListenerError.unopened("\(settings.address)", error.errnoCode)
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        guard Task.isShuttingDownGracefully || Task.isCancelled else {
            throw ListenerError.unusable("\(settings.address) was closed")
        }
    }
}

/// Why a listener cannot use its address. The associated value completes a sentence.
public enum ListenerError: Error, CustomStringConvertible {
    /// The address is in use.
    case occupied(String)
    /// The system refuses the address.
    case unusable(String)

    static func unknownHost(of address: String) -> ListenerError {
        .unusable("the host of \(address) cannot be found; give an address of this machine, such as 127.0.0.1")
    }

    /// - Parameter code: the value of `errno`.
    static func unopened(_ address: String, _ code: Int32) -> ListenerError {
        code == EADDRINUSE
            ? .occupied("another process listens on \(address)")
            : .unusable("\(address) cannot be opened: \(String(cString: strerror(code)))")
    }

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Free the address, or choose another one."
        case .unusable(let what): "The gateway cannot listen: \(what)."
        }
    }
}

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

/// Checks and permissions of a Unix socket. Binding replaces the socket of an ended process, but not one in use.
enum UnixSocket {
    /// - Throws: `ListenerError` if another process listens there, or if the path is not a socket.
    static func requireFree(_ path: String) throws(ListenerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .occupied("\(path) exists, and is not a socket") }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else {
            throw .occupied("\(path) is too long for a Unix socket")
        }
        let result = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        if result == 0 { throw .occupied("another process listens on \(path)") }
    }

    /// Sets a socket's owner and mode. The path is resolved once, and a symbolic link in its last component is refused.
    /// So another user with write access to the directory cannot redirect the change to another file.
    static func setPermissions(_ permissions: SocketPermissions, at path: String) throws(ListenerError) {
        let descriptor = open(path, openPath | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unusable("\(path) cannot be opened: \(reason())") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw .unusable("\(path) is not the socket that the gateway created; check who may write to its directory")
        }
        if permissions.uid != nil || permissions.gid != nil {
            // -1 leaves the ID unchanged (chown(2)).
            let (uid, gid) = (permissions.uid ?? uid_t.max, permissions.gid ?? gid_t.max)
            guard fchownat(descriptor, "", uid, gid, emptyPath) == 0 else {
                throw .unusable("the owner of \(path) cannot be set: \(reason())")
            }
        }
        // fchmod(2) refuses an O_PATH descriptor; its path in /proc leads to the same inode (proc_pid_fd(5)).
        guard chmod("/proc/self/fd/\(descriptor)", permissions.mode) == 0 else {
            throw .unusable("the mode of \(path) cannot be set: \(reason())")
        }
    }

    /// `O_PATH` and `AT_EMPTY_PATH` (open(2)), which glibc declares only with _GNU_SOURCE.
    private static let openPath: Int32 = 0o10000000
    private static let emptyPath: Int32 = 0x1000

    private static func reason() -> String { String(cString: strerror(errno)) }
}
