import AuditKit
import AuditLog
import GatewayConfiguration
import GatewayHTTP
import Signing
import TransparencyLog

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

/// Reads the audit log of a configuration. It needs only public keys.
struct ConfiguredAuditReading: AuditReading {
    private let audit: GatewayConfiguration.Audit

    init(_ audit: GatewayConfiguration.Audit) {
        self.audit = audit
    }

    func reader() throws(AuditStoreError) -> any AuditReader {
        try BuiltIns.auditStore.read(at: audit.database.path)
    }

    func verifiers() throws(AuditStoreError) -> [NoteVerifier] {
        try reading { () throws(AuditSetupError) in try AuditKeyFile(audit.key.path).publicKeys() }
    }

    func externals() throws(AuditStoreError) -> (checkpoints: ExternalCheckpoints, damaged: Int) {
        try reading { () throws(AuditSetupError) in
            let collection = try CheckpointCollection(audit.checkpoints.file.path, isGiven: false)
            return (collection.checkpoints, collection.damaged)
        }
    }

    private func reading<Value>(_ body: () throws(AuditSetupError) -> Value) throws(AuditStoreError) -> Value {
        do throws(AuditSetupError) { return try body() } catch { throw .failed(error.description) }
    }
}
