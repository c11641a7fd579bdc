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
    /// - Throws: if another process listens on the Unix socket, because binding would take the path from that process.
    public init(
        _ settings: ListenerSettings, router: GatewayRouter, routes: Routes,
        onRunning: @escaping @Sendable (GatewayConfiguration.ListenAddress) -> Void = { _ in }
    ) throws(ListenerError) {
        if case .unixSocket(let path) = settings.address { try UnixSocket.requireFree(path) }
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
        let server = channel.server(
            configuration: ServerConfiguration(address: settings.address.bindAddress, backlog: 1024),
            onServerRunning: { [settings, onRunning] channel in
                do throws(ListenerError) {
                    try settings.setSocketPermissions()
                    onRunning(settings.address.bound(to: channel.localAddress?.port))
                } catch {
                    failure.withLock { $0 = error }
                    channel.close(promise: nil)
                }
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        do {
            try await server.run()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ListenerError.occupied("another process listens on \(settings.address)")
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenerError.unusable("\(settings.address) cannot be opened: \(reason)")
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

extension GatewayConfiguration.ListenAddress {
    fileprivate var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unixSocket(let path): .unixDomainSocket(path: path)
        }
    }

    fileprivate func bound(to port: Int?) -> Self {
        guard case .tcp(let host, _) = self, let port else { return self }
        return .tcp(host: host, port: port)
    }
}
