public import GatewayConfiguration
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
