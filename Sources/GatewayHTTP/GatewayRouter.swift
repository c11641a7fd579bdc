public import Hummingbird
public import SigningGateway

/// The routers of the listeners.
public struct GatewayRouter: Sendable {
    let gateway: LiveGateway
    let monitor: KeyRingMonitor
    let drain: Drain
    let registry: ConnectionRegistry
    let exchange: ExchangeMiddleware

    public init(
        gateway: LiveGateway, monitor: KeyRingMonitor, drain: Drain, registry: ConnectionRegistry,
        log: (any AccessLog)? = nil, isMeasured: Bool = true, traffic: Traffic? = nil,
        tracing: (any RequestTracing)? = nil
    ) {
        self.gateway = gateway
        self.monitor = monitor
        self.drain = drain
        self.registry = registry
        exchange = ExchangeMiddleware(
            log: log, metrics: isMeasured ? ExchangeMetrics() : nil, traffic: traffic, tracing: tracing)
    }

    /// For apps' servers.
    public var `public`: Router<GatewayContext> { table.router(exchange, RefusalWitness(gateway: gateway)) }

    var table: RouteTable {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        let contract = ContractRoutes()
        var table = RouteTable()
        table.post(SignatureRoute.path, SignatureRoute(gateway: gateway, registry: registry).respond)
        table.post(BatchRoute.path, BatchRoute(gateway: gateway, registry: registry).respond)
        table.get(CompatibilityRoute.path, CompatibilityRoute(gateway: gateway).respond)
        table.resource(KeySetRoute.path, KeySetRoute(gateway: gateway).respond)
        table.resource(HealthRoutes.livePath, health.live)
        table.resource(HealthRoutes.readyPath, health.ready)
        table.resource(ContractRoutes.yamlPath, contract.yaml)
        table.resource(ContractRoutes.jsonPath, contract.json)
        return table
    }

    /// For operators: nobody else is told anything.
    ///
    /// - Parameters:
    ///   - audit: where the audit log is read; nil for a gateway that keeps none.
    ///   - keys: where changes in the life of keys are decided; nil for a gateway that keeps no register.
    public func admin(
        _ administration: any Administration, audit: (any AuditReading)? = nil, keys: KeyOffice? = nil
    ) -> Router<GatewayContext> {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        let guardian = Guardian(gateway: gateway)
        var table = RouteTable()
        table.get(StatusRoute.path, guardian.guarding(StatusRoute(administration: administration).respond))
        table.post(ReloadRoute.path, guardian.guarding(ReloadRoute(administration: administration).respond))
        if let keys {
            KeyRoutes(office: keys).add(to: &table, guardian)
        } else {
            AbsentRegisterRoutes().add(to: &table, guardian)
        }
        if let audit { AuditRoutes(reading: audit, gateway: gateway).add(to: &table, guardian) }
        table.resource(HealthRoutes.livePath, health.live)
        table.resource(HealthRoutes.readyPath, health.ready)
        return table.router(exchange, RefusalWitness(gateway: gateway))
    }

    /// For Prometheus.
    public func metrics(_ exposition: @escaping @Sendable () async -> [UInt8]) -> Router<GatewayContext> {
        let health = HealthRoutes(gateway: gateway, monitor: monitor, drain: drain)
        var table = RouteTable()
        table.resource(MetricsRoute.path, MetricsRoute(exposition: exposition).respond)
        table.resource(HealthRoutes.livePath, health.live)
        table.resource(HealthRoutes.readyPath, health.ready)
        return table.router(exchange, RefusalWitness(gateway: gateway))
    }
}
