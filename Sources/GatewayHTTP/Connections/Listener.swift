import Glibc
public import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// A door of the gateway: takes connections at an address, and has a router answer what comes in.
public struct Listener: Service {
    public let plan: ListenerPlan
    private let responder: RouterResponder<GatewayContext>
    private let registry: ConnectionRegistry
    private let drain: Drain
    private let observer: ListenerObserver
    private let onRunning: @Sendable (ServerAddress) -> Void

    /// - Parameter onRunning: called once connections are taken, with the address as it turned out.
    /// - Throws: when another process listens on the Unix socket: to bind it would take it away.
    public init(
        _ plan: ListenerPlan, router: GatewayRouter, routes: Router<GatewayContext>,
        onRunning: @escaping @Sendable (ServerAddress) -> Void = { _ in }
    ) throws(ListenerError) {
        if case .unixSocket(let path) = plan.address { try UnixSocket.requireFree(path) }
        self.plan = plan
        responder = routes.buildResponder()
        registry = router.registry
        drain = router.drain
        observer = ListenerObserver(listener: plan.name, log: router.exchange.log, metrics: router.exchange.metrics)
        self.onRunning = onRunning
    }

    public func run() async throws {
        // What is worth saying of a listener is said by who has it run.
        var logger = Logger(label: "privyseal.http.\(plan.name.rawValue)")
        logger.logLevel = max(logger.logLevel, .notice)
        let failure = Mutex<ListenerError?>(nil)
        let application = Application(
            responder: responder,
            server: HTTPServerBuilder { [plan, registry, drain, observer] responder in
                GatewayChannel(
                    listener: plan.name, registry: registry, identity: plan.tls, responder: responder, drain: drain,
                    observer: observer)
            },
            configuration: ApplicationConfiguration(address: plan.address.bindAddress, backlog: 1024),
            onServerRunning: { channel in
                do throws(ListenerError) {
                    try plan.permitSocket()
                    onRunning(plan.address.bound(to: channel.localAddress?.port))
                } catch {
                    failure.withLock { $0 = error }
                    channel.close(promise: nil)
                }
            },
            logger: logger)
        do {
            try await application.run()
        } catch let error where failure.withLock({ $0 }) != nil {
            // The server ends with an error of its own when it is closed so early.
            throw failure.withLock { $0 } ?? error
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ListenerError.occupied("another process listens on \(plan.address)")
        } catch let error as IOError {
            let reason = String(cString: strerror(error.errnoCode))
            throw ListenerError.unusable("\(plan.address) cannot be listened on: \(reason)")
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
