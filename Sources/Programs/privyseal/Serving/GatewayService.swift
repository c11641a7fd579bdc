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
import SignerClient
import Signing
import SigningKit
import Tracing
import UnixSignals
import WorkloadIdentities

/// All services of a serving gateway.
struct GatewayService {
    let configuration: GatewayConfiguration
    /// The file of the configuration.
    let path: String
    let listeners: Listeners
    /// Nil without an audit log.
    let logs: AuditLogs?
    let recent: RecentEvents
    let prometheus: PrometheusRegistry
    /// Held while the gateway runs.
    let lock: KeyRegisterLock?
    /// Whether a misconfigured active key ends the process.
    let isStrict: Bool

    /// Serves until a signal ends the process. Closes keys and audit log in any case.
    func run() async throws {
        let logins = logins
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(configuration, audit: logs?.signing, logins: logins))
        do { try await serve(gateway, logins) } catch {
            await gateway.current.ring.close()
            await logs?.close()
            throw error
        }
    }

    /// Nil for a gateway that belongs to no fleet.
    private var logins: FleetLogins? {
        guard let logs, let fleet = logs.fleet else { return nil }
        return FleetLogins(LoginHistoryFile(configuration), in: fleet, keyStates: logs.keyStates)
    }

    private func serve(_ gateway: SnapshotHolder, _ logins: FleetLogins?) async throws {
        let manager = ServiceNotifications(listeners: listeners.settings.count)
        // Keys are opened while the listeners serve already, so that a slow token does not block /livez.
        let monitor = KeyRingMonitor(gateway) { [isStrict] in
            if isStrict { try Self.refuseMisconfiguredKeys(gateway.current.ring) }
            manager.noteOne()
        }
        let drain = Drain(delay: configuration.drainDelay)
        let registry = ConnectionRegistry(configuration.limits)
        let tracing = configuration.tracing.map { TraceExport($0) }
        let clock = logs?.log.clock ?? ClockMonitor()
        let keys = logs.map {
            KeyLifecycleService(gateway, audit: $0.registerLog, keyStates: $0.keyStates, fleet: $0.fleet)
        }
        let fleetLog = logs.flatMap { $0.fleet == nil ? nil : $0.registerLog }
        let router = GatewayRouter(
            gateway: gateway, monitor: monitor, drain: drain, registry: registry,
            log: StreamedAccessLog(format: configuration.logging.format), tracing: tracing)
        let reloader = Reloader(
            path: path, configuration, gateway: gateway, monitor: monitor, registry: registry, listeners: listeners,
            manager: manager, logins: logins)
        let administration = AdminService(configuration: path, recent: recent, reloader: reloader)
        let servers = try listeners.settings.map { settings in
            let routes =
                switch settings.name {
                case .public: router.public
                case .admin:
                    router.admin(
                        administration, listeners: listeners.settings,
                        audit: ConfiguredAuditReading(configuration), keys: keys)
                case .metrics: router.metrics { [prometheus] in await prometheus.scrape() }
                }
            return try Listener(settings, router: router, routes: routes) { address in
                Logger(label: "privyseal.listener").info(
                    "Listening on \(address)", metadata: ["listener": "\(settings.name.rawValue)"])
                manager.noteOne()
            }
        }
        let tokenWatch = ConfiguredAuditReading(configuration).map {
            LongLivedTokenWatch(reading: $0, prometheus: prometheus)
        }
        GaugeCollector(
            gateway: gateway, registry: registry, listeners: listeners, clock: clock, fleet: logs?.fleet,
            prometheus: prometheus
        ).start()
        gateway.current.issuers.prepare()
        // They stop from last to first: the drain, the listeners, then the keys, and at the end the audit log.
        let inner: [(any Service)?] = [
            fleetLog, logs?.log, gateway, monitor, clock, keys, tracing,
            TLSWatcher(listeners.identities, registry: registry),
            reloader, manager, tokenWatch,
        ]
        try await run(inner.compactMap(\.self) + servers + [drain])
    }

    private func run(_ services: [any Service]) async throws {
        let logger = Logger(label: "privyseal.services")
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .ignore) },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = configuration.drainDelay + configuration.shutdownGracePeriod
        try await ServiceGroup(configuration: group).run()
        logger.info("Stopped")
    }

    /// With `--strict`, an active key that only an administrator can correct ends the process. A refused or blocked
    /// login does not: a supervisor would restart the process, and the retries of the PIN would lock the token.
    private static func refuseMisconfiguredKeys(_ ring: KeyRing) throws {
        let complaints = ring.handles.compactMap { handle -> String? in
            guard handle.isActive, case .refused(let error) = handle.state, !error.concernsLogin else { return nil }
            return "\(handle.settings.origin): \(error)"
        }
        guard complaints.isEmpty else { throw StandardError.failure(complaints.joined(separator: "\n"), status: 78) }
    }
}
