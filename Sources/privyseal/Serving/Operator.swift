import GatewayConfiguration
import GatewayHTTP
import SigningGateway

/// What the admin listener can ask for.
struct Operator: Administration {
    let path: String
    let begun = ContinuousClock.now
    let gateway: LiveGateway
    let monitor: KeyRingMonitor
    let registry: ConnectionRegistry
    let doors: Doors
    let traffic: Traffic
    let recent: RecentEvents
    let reloader: Reloader

    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome {
        await reloader.reload(isTrial: isTrial, by: actor)
    }

    func status() async -> GatewayStatus {
        let keys = await monitor.report()
        let generation = gateway.current
        let connections = registry.counts()
        return GatewayStatus(
            version: Version.text, uptime: .now - begun, configuration: path, lastReload: reloader.last,
            isReady: keys.allSatisfy { !$0.isActive || $0.state.canSign } && gateway.audit?.state.isWritable != false,
            audit: gateway.audit.map(AuditSummary.init),
            listeners: doors.plans.map { plan in
                GatewayStatus.ListenerState(
                    name: plan.name, address: "\(plan.address)", connections: connections[plan.name] ?? 0,
                    certificateExpiry: plan.tls?.expiry)
            },
            traffic: traffic.rates, keys: keys, places: await generation.ring.report(),
            clients: generation.clients.clients, events: recent.all)
    }
}
