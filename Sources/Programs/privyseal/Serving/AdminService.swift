import AuditLog
import GatewayConfiguration
import GatewayHTTP
import Signing

struct AdminService: Administration {
    let path: String
    let begun = ContinuousClock.now
    let gateway: SnapshotHolder
    let monitor: KeyRingMonitor
    let registry: ConnectionRegistry
    let listeners: Listeners
    let totals: RequestTotals
    let recent: RecentEvents
    let reloader: Reloader

    func reload(isTrial: Bool, by actor: String) async -> ReloadOutcome {
        await reloader.reload(isTrial: isTrial, by: actor)
    }

    func status() async -> GatewayStatus {
        let keys = await monitor.report()
        let snapshot = gateway.current
        let connections = registry.counts()
        return GatewayStatus(
            version: Version.text, uptime: .now - begun, configuration: path, lastReload: reloader.last,
            isReady: keys.allSatisfy { !$0.isActive || $0.state.canSign } && gateway.audit?.state.isWritable != false,
            audit: gateway.audit.map(AuditSummary.init),
            listeners: listeners.settings.map { settings in
                GatewayStatus.ListenerState(
                    name: settings.name, address: "\(settings.address)", connections: connections[settings.name] ?? 0,
                    certificateExpiry: settings.tls?.expiry)
            },
            totals: totals.rates, keys: keys, places: await snapshot.ring.report(),
            clients: snapshot.clients.clients, events: recent.all)
    }
}
