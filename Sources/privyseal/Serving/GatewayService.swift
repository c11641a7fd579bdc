import ArgumentParser
import GatewayConfiguration
import GatewayHTTP
import Logging
import Metrics
import NIOCore
import OTLPTracing
import PrometheusMetrics
import ServiceLifecycle
import ServiceManager
import SigningGateway
import SigningKit
import Tracing
import UnixSignals

/// Everything that runs while the gateway serves, put together from a configuration.
struct GatewayService {
    private let configuration: GatewayConfiguration
    private let gateway: LiveGateway
    private let audit: AuditLog?
    /// Nil where no register of keys is kept.
    private let keys: KeyOffice?
    private let lock: KeyRegisterLock?
    private let monitor: KeyRingMonitor
    private let drain: Drain
    private let registry: ConnectionRegistry
    private let doors: Doors
    private let router: GatewayRouter
    private let reloader: Reloader
    private let administration: Operator
    private let prometheus: PrometheusRegistry
    private let tracing: TraceExport?
    private let clock: ClockMonitor
    private let manager: Supervision

    /// - Parameter isStrict: an active key that only a person can mend ends the process.
    /// - Throws: `DoorError` when a listener cannot be as it is configured.
    init(
        _ configuration: GatewayConfiguration, path: String, audit: AuditLog?, recent: RecentEvents,
        prometheus: PrometheusRegistry, lock: KeyRegisterLock? = nil, isStrict: Bool = false
    ) throws(DoorError) {
        let gateway = LiveGateway(GatewayGeneration(configuration, audit: audit))
        let doors = try Doors(configuration)
        let manager = Supervision(listeners: doors.plans.count)
        self.configuration = configuration
        self.gateway = gateway
        self.audit = audit
        keys = audit.map { KeyOffice(gateway, audit: $0) }
        self.lock = lock
        clock = audit?.clock ?? ClockMonitor()
        self.doors = doors
        self.manager = manager
        self.prometheus = prometheus
        // Keys are opened while it serves already: a token that takes its time must not keep /livez from answering.
        monitor = KeyRingMonitor(gateway) {
            if isStrict { try Self.refuseMisconfiguredKeys(gateway.current.ring) }
            manager.noteOpened()
        }
        drain = Drain(delay: configuration.drainDelay)
        registry = ConnectionRegistry(ConnectionBounds(configuration.limits))
        tracing = configuration.tracing.map { TraceExport($0) }
        let traffic = Traffic()
        router = GatewayRouter(
            gateway: gateway, monitor: monitor, drain: drain, registry: registry,
            log: StreamedAccessLog(format: configuration.logging.format), traffic: traffic, tracing: tracing)
        reloader = Reloader(
            path: path, configuration, gateway: gateway, monitor: monitor, registry: registry, doors: doors,
            manager: manager)
        administration = Operator(
            path: path, gateway: gateway, monitor: monitor, registry: registry, doors: doors, traffic: traffic,
            recent: recent, reloader: reloader)
    }

    /// Until it is told to stop.
    func run() async throws {
        let listeners = try doors.plans.map { try listener($0) }
        GaugeCollector(gateway: gateway, registry: registry, doors: doors, clock: clock, prometheus: prometheus).start()
        // Stopped from the last to the first: the drain, then the listeners, the keys when nobody asks any more, and the
        // record when nothing more can happen.
        var services: [any Service] = audit.map { [$0] } ?? []
        services += [gateway, monitor, clock] as [any Service]
        if let keys { services.append(keys) }
        if let tracing { services.append(tracing) }
        services += [TLSWatcher(doors.identities, registry: registry), reloader, manager.watchdog]
        services += listeners
        services.append(drain)
        let logger = Logger(label: "privyseal.services")
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .ignore) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = configuration.drainDelay + configuration.shutdownGracePeriod
        try await ServiceGroup(configuration: group).run()
        logger.info("Stopped")
    }

    /// For when it ended before it was asked to.
    func close() async {
        await gateway.current.ring.close()
        await audit?.close()
    }

    private func listener(_ plan: ListenerPlan) throws -> Listener {
        let routes =
            switch plan.name {
            case .public: router.public
            case .admin: router.admin(administration, audit: auditReading, keys: keys)
            case .metrics: router.metrics { [prometheus] in await prometheus.scrape() }
            }
        return try Listener(plan, router: router, routes: routes) { [manager] address in
            Logger(label: "privyseal.listener").info(
                "Listening on \(address)", metadata: ["listener": "\(plan.name.rawValue)"])
            manager.noteListening()
        }
    }

    private var auditReading: ConfiguredAuditReading? {
        guard audit != nil else { return nil }
        return configuration.audit.map(ConfiguredAuditReading.init)
    }

    /// With `--strict`, a key that only a person can mend ends the process. Except for a login that was refused or
    /// is blocked: a supervisor would start the process again, and each start would try the PIN again until the
    /// token locks itself.
    private static func refuseMisconfiguredKeys(_ ring: KeyRing) throws {
        var complaints: [String] = []
        for slot in ring.slots where slot.isActive {
            guard case .refused(let error) = slot.state else { continue }
            if error.concernsLogin { continue }
            complaints.append("\(slot.plan.origin): \(error)")
        }
        guard complaints.isEmpty else { throw StandardError.failure(complaints.joined(separator: "\n"), status: 78) }
    }
}
