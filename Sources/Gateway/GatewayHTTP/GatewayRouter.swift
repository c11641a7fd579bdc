public import Hummingbird
public import KeyLifecycle
public import Signing

/// Builds the routers of the listeners.
public struct GatewayRouter: Sendable {
    let gateway: SnapshotHolder
    let monitor: KeyRingMonitor
    let drain: Drain
    let registry: ConnectionRegistry
    let scope: RequestScopeMiddleware

    public init(
        gateway: SnapshotHolder, monitor: KeyRingMonitor, drain: Drain, registry: ConnectionRegistry,
        log: (any AccessLog)? = nil, isMeasured: Bool = true, totals: RequestTotals? = nil,
        tracing: (any RequestTracing)? = nil
    ) {
        self.gateway = gateway
        self.monitor = monitor
        self.drain = drain
        self.registry = registry
        scope = RequestScopeMiddleware(
            log: log, metrics: isMeasured ? RequestMetrics() : nil, totals: totals, tracing: tracing)
    }

    /// For apps' servers.
    public var `public`: Router<GatewayContext> { table.router(scope, RefusalRecorder(gateway: gateway)) }

    var table: RouteTable {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        let contract = ContractRoutes(features: gateway.current.dispatcher.features)
        var table = RouteTable()
        table.post(SignatureRoute.path, SignatureRoute(gateway: gateway, registry: registry).respond)
        table.post(BatchRoute.path, BatchRoute(gateway: gateway, registry: registry).respond)
        table.get(CompatibilityRoute.path, CompatibilityRoute(gateway: gateway).respond)
        table.resource(KeySetRoute.path, KeySetRoute(gateway: gateway).respond)
        table.resource(HealthRoutes.livePath, health.alive)
        table.resource(HealthRoutes.readyPath, health.ready)
        table.resource(ContractRoutes.yamlPath, contract.yaml)
        table.resource(ContractRoutes.jsonPath, contract.json)
        return table
    }

    /// For administrators; only the health routes need no authorization.
    ///
    /// - Parameters:
    ///   - audit: reads the audit log; nil if the gateway keeps none.
    ///   - keys: decides on key lifecycle changes; nil if the gateway keeps no register of keys.
    public func admin(
        _ administration: any Administration, audit: (any AuditReading)? = nil, keys: KeyLifecycleService? = nil
    ) -> Router<GatewayContext> {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        let adminAuthorization = AdminAuthorization(gateway: gateway)
        var table = RouteTable()
        table.get(StatusRoute.path, adminAuthorization.authorizing(StatusRoute(administration: administration).respond))
        table.post(
            ReloadRoute.path, adminAuthorization.authorizing(ReloadRoute(administration: administration).respond))
        if let keys {
            KeyRoutes(lifecycle: keys).add(to: &table, adminAuthorization)
        } else {
            AbsentRegisterRoutes().add(to: &table, adminAuthorization)
        }
        if let audit { AuditRoutes(reading: audit, gateway: gateway).add(to: &table, adminAuthorization) }
        table.resource(HealthRoutes.livePath, health.alive)
        table.resource(HealthRoutes.readyPath, health.ready)
        return table.router(scope, RefusalRecorder(gateway: gateway))
    }

    /// For Prometheus.
    public func metrics(_ exposition: @escaping @Sendable () async -> [UInt8]) -> Router<GatewayContext> {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        var table = RouteTable()
        table.resource(MetricsRoute.path, MetricsRoute(exposition: exposition).respond)
        table.resource(HealthRoutes.livePath, health.alive)
        table.resource(HealthRoutes.readyPath, health.ready)
        return table.router(scope, RefusalRecorder(gateway: gateway))
    }
}
