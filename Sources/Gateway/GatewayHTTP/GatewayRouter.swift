import HummingbirdCore
public import KeyLifecycle
import NIOCore
public import Signing

/// Builds the routes of the listeners.
public struct GatewayRouter: Sendable {
    let gateway: SnapshotHolder
    let monitor: KeyRingMonitor
    let drain: Drain
    let registry: ConnectionRegistry
    let reports: AnswerReports
    let tracing: (any RequestTracing)?

    public init(
        gateway: SnapshotHolder, monitor: KeyRingMonitor, drain: Drain, registry: ConnectionRegistry,
        log: (any AccessLog)? = nil, tracing: (any RequestTracing)? = nil
    ) {
        self.gateway = gateway
        self.monitor = monitor
        self.drain = drain
        self.registry = registry
        self.tracing = tracing
        reports = AnswerReports(log: log)
    }

    /// For apps' servers.
    public var `public`: Routes {
        var routes = Routes(self)
        SigningRoutes(gateway: gateway, registry: registry).add(to: &routes)
        routes.resource(KeySetRoute.path, KeySetRoute(gateway: gateway).respond)
        addHealth(to: &routes)
        ContractRoutes(features: gateway.current.dispatcher.features).add(to: &routes)
        return routes
    }

    /// For administrators; only the health routes need no authorization.
    ///
    /// - Parameters:
    ///   - listeners: all listeners, for the status.
    ///   - audit: reads the audit log; nil if the gateway keeps none.
    ///   - keys: decides on key lifecycle changes; nil if the gateway keeps no register of keys.
    public func admin(
        _ administration: any Administration, listeners: [ListenerSettings], audit: (any AuditReading)? = nil,
        keys: KeyLifecycleService? = nil
    ) -> Routes {
        var routes = Routes(self)
        routes.isForAdministrators = true
        AdminRoutes(
            administration: administration, router: self, listeners: listeners, fleetLog: keys?.fleetLog
        ).add(to: &routes)
        if let keys {
            KeyRoutes(lifecycle: keys).add(to: &routes)
            FleetRoutes(lifecycle: keys).add(to: &routes)
        } else {
            KeyRoutes.addRefusals(to: &routes)
        }
        if let audit { AuditRoutes(reading: audit, gateway: gateway).add(to: &routes) }
        addHealth(to: &routes)
        return routes
    }

    /// For Prometheus.
    ///
    /// - Parameter exposition: text format 0.0.4.
    public func metrics(_ exposition: @escaping @Sendable () async -> [UInt8]) -> Routes {
        var routes = Routes(self)
        routes.resource("/metrics") { _, _ in
            Response(ByteBuffer(bytes: await exposition()), as: "text/plain; version=0.0.4; charset=utf-8")
        }
        addHealth(to: &routes)
        return routes
    }

    private func addHealth(to routes: inout Routes) {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        routes.resource("/livez", health.alive)
        routes.resource("/readyz", health.ready)
    }
}
