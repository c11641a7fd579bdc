import ArgumentParser
import AuditLog
import GatewayConfiguration
import GatewayHTTP
import KeyLifecycle
import Logging
import Metrics
import NIOCore
import OTLPTracing
import PrometheusMetrics
import ServiceLifecycle
import ServiceManager
import Signing
import SigningKit
import Tracing
import UnixSignals

/// All services of a serving gateway, built from a configuration.
struct GatewayService {
    private let configuration: GatewayConfiguration
    private let gateway: SnapshotHolder
    private let audit: AuditLog?
    /// Nil without a register of keys.
    private let keys: KeyLifecycleService?
    private let lock: KeyRegisterLock?
    private let monitor: KeyRingMonitor
    private let drain: Drain
    private let registry: ConnectionRegistry
    private let listeners: Listeners
    private let router: GatewayRouter
    private let reloader: Reloader
    private let administration: AdminService
    private let prometheus: PrometheusRegistry
    private let tracing: TraceExport?
    private let clock: ClockMonitor
    private let manager: ServiceNotifications

    /// - Parameters:
    ///   - keyStates: the states that `audit` loads when it is opened.
    ///   - isStrict: whether a misconfigured active key ends the process.
    /// - Throws: `ListenersError` if a listener's configuration cannot be used.
    init(
        _ configuration: GatewayConfiguration, path: String, audit: AuditLog?, keyStates: KeyStateCache,
        recent: RecentEvents, prometheus: PrometheusRegistry, lock: KeyRegisterLock? = nil, isStrict: Bool = false
    ) throws(ListenersError) {
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(configuration, audit: audit.map { SigningAudit($0, keyStates) }))
        let listeners = try Listeners(configuration)
        let manager = ServiceNotifications(listeners: listeners.settings.count)
        self.configuration = configuration
        self.gateway = gateway
        self.audit = audit
        keys = audit.map { KeyLifecycleService(gateway, audit: $0, keyStates: keyStates) }
        self.lock = lock
        clock = audit?.clock ?? ClockMonitor()
        self.listeners = listeners
        self.manager = manager
        self.prometheus = prometheus
        // Keys are opened while the listeners serve already, so that a slow token does not block /livez.
        monitor = KeyRingMonitor(gateway) {
            if isStrict { try Self.refuseMisconfiguredKeys(gateway.current.ring) }
            manager.noteOpened()
        }
        drain = Drain(delay: configuration.drainDelay)
        registry = ConnectionRegistry(configuration.limits)
        tracing = configuration.tracing.map { TraceExport($0) }
        let totals = RequestTotals()
        router = GatewayRouter(
            gateway: gateway, monitor: monitor, drain: drain, registry: registry,
            log: StreamedAccessLog(format: configuration.logging.format), totals: totals, tracing: tracing)
        reloader = Reloader(
            path: path, configuration, gateway: gateway, monitor: monitor, registry: registry, listeners: listeners,
            manager: manager)
        administration = AdminService(
            path: path, gateway: gateway, monitor: monitor, registry: registry, listeners: listeners, totals: totals,
            recent: recent, reloader: reloader)
    }

    func run() async throws {
        let servers = try listeners.settings.map { try listener($0) }
        GaugeCollector(gateway: gateway, registry: registry, listeners: listeners, clock: clock, prometheus: prometheus)
            .start()
        // They stop from last to first: the drain, the listeners, then the keys, and at the end the audit log.
        var services: [any Service] = audit.map { [$0] } ?? []
        services += [gateway, monitor, clock] as [any Service]
        if let keys { services.append(keys) }
        if let tracing { services.append(tracing) }
        services += [TLSWatcher(listeners.identities, registry: registry), reloader, manager.watchdog]
        services += servers
        services.append(drain)
        let logger = Logger(label: "privyseal.services")
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .ignore) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = configuration.drainDelay + configuration.shutdownGracePeriod
        try await ServiceGroup(configuration: group).run()
        logger.info("Stopped")
    }

    /// Call if `run` failed.
    func close() async {
        await gateway.current.ring.close()
        await audit?.close()
    }

    private func listener(_ settings: ListenerSettings) throws -> Listener {
        let routes =
            switch settings.name {
            case .public: router.public
            case .admin: router.admin(administration, audit: auditReading, keys: keys)
            case .metrics: router.metrics { [prometheus] in await prometheus.scrape() }
            }
        return try Listener(settings, router: router, routes: routes) { [manager] address in
            Logger(label: "privyseal.listener").info(
                "Listening on \(address)", metadata: ["listener": "\(settings.name.rawValue)"])
            manager.noteListening()
        }
    }

    private var auditReading: ConfiguredAuditReading? {
        guard audit != nil else { return nil }
        return configuration.audit.map(ConfiguredAuditReading.init)
    }

    /// With `--strict`, an active key that only an administrator can correct ends the process. A refused or blocked
    /// login does not: a supervisor would restart the process, and the retries of the PIN would lock the token.
    private static func refuseMisconfiguredKeys(_ ring: KeyRing) throws {
        var complaints: [String] = []
        for handle in ring.handles where handle.isActive {
            guard case .refused(let error) = handle.state else { continue }
            if error.concernsLogin { continue }
            complaints.append("\(handle.settings.origin): \(error)")
        }
        guard complaints.isEmpty else { throw StandardError.failure(complaints.joined(separator: "\n"), status: 78) }
    }
}
