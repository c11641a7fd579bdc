public import GatewayConfiguration
import Glibc
public import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// Accepts connections at an address; a router answers their requests.
public struct Listener: Service {
    public let settings: ListenerSettings
    private let responder: RouterResponder<GatewayContext>
    private let registry: ConnectionRegistry
    private let drain: Drain
    private let observer: ListenerObserver
    private let onRunning: @Sendable (GatewayConfiguration.ListenAddress) -> Void

    /// - Parameter onRunning: called when the listener accepts connections, with the bound address.
    /// - Throws: if another process listens on the Unix socket, because binding would take the path from that process.
    public init(
        _ settings: ListenerSettings, router: GatewayRouter, routes: Router<GatewayContext>,
        onRunning: @escaping @Sendable (GatewayConfiguration.ListenAddress) -> Void = { _ in }
    ) throws(ListenerError) {
        if case .unixSocket(let path) = settings.address { try UnixSocket.requireFree(path) }
        self.settings = settings
        responder = routes.buildResponder()
        registry = router.registry
        drain = router.drain
        observer = ListenerObserver(listener: settings.name, log: router.scope.log, metrics: router.scope.metrics)
        self.onRunning = onRunning
    }

    public func run() async throws {
        // The program logs the events of its listeners itself, so Hummingbird logs nothing below notice.
        var logger = Logger(label: "privyseal.http.\(settings.name.rawValue)")
        logger.logLevel = max(logger.logLevel, .notice)
        let failure = Mutex<ListenerError?>(nil)
        let application = Application(
            responder: responder,
            server: HTTPServerBuilder { [settings, registry, drain, observer] responder in
                GatewayChannel(
                    listener: settings.name, registry: registry, identity: settings.tls, responder: responder,
                    drain: drain,
                    observer: observer)
            },
            configuration: ApplicationConfiguration(address: settings.address.bindAddress, backlog: 1024),
            onServerRunning: { channel in
                do throws(ListenerError) {
                    try settings.setSocketPermissions()
                    onRunning(settings.address.bound(to: channel.localAddress?.port))
                } catch {
                    failure.withLock { $0 = error }
                    channel.close(promise: nil)
                }
            },
            logger: logger)
        do {
            try await application.run()
        } catch let error where failure.withLock({ $0 }) != nil {
            // Closed this early, the server throws an error of its own.
            throw failure.withLock { $0 } ?? error
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ListenerError.occupied("another process listens on \(settings.address)")
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenerError.unusable("\(settings.address) cannot be opened: \(reason)")
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
