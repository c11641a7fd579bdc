import AuditLog
import GatewayConfiguration
import GatewayHTTP
import KeyLifecycle
import PrometheusMetrics
import SignerClient
import Signing
import SigningKit

/// Sets the gauges of the current state at each scrape.
struct GaugeCollector: Sendable {
    private typealias Series = (dimensions: [(String, String)], value: Double)

    let gateway: SnapshotHolder
    let registry: ConnectionRegistry
    let listeners: Listeners
    let clock: ClockMonitor
    /// Nil for a gateway that belongs to no fleet.
    let fleet: FleetRegister?
    let prometheus: PrometheusRegistry

    func start() {
        set("privyseal_build_info", [([("version", Version.text)], 1)])
        prometheus.onScrape { await collect() }
    }

    private func collect() async {
        let connections = registry.counts()
        set(
            "privyseal_connections",
            listeners.settings.map { ([("listener", $0.name.rawValue)], Double(connections[$0.name] ?? 0)) })
        set("privyseal_body_bytes", Double(registry.bodyBytes))
        set(
            "privyseal_tls_certificate_expiry_timestamp_seconds",
            listeners.identities.map { ([("listener", $0.name.rawValue)], Double($0.identity.expiry)) })
        set("privyseal_clock_offset_seconds", clock.offset / .seconds(1))
        collectAudit()
        collectFleet()
        let ring = gateway.current.ring
        let unconfigured = ActiveKeys(among: ring.handles).unconfigured
        let states = ring.handles.map(\.state.name) + unconfigured.map { _ in KeyState.refusedName }
        set(
            "privyseal_keys",
            ["ready", "degraded", "down", "refused"].map { state in
                ([("state", state)], Double(states.count { $0 == state }))
            })
        set(
            "privyseal_key_life",
            ring.handles.compactMap { handle in
                handle.lifeState.map { ([("key_id", handle.settings.keyID), ("state", $0.rawValue)], 1) }
            })
        set(
            "privyseal_key_tokens",
            ring.handles.flatMap { handle in
                handle.replicas.map { replica in
                    (
                        [
                            ("key_id", handle.settings.keyID), ("token", replica.name),
                            ("state", replica.state.name),
                        ], 1
                    )
                }
            })
        collectTokens(await ring.report())
        await collectSigners()
    }

    private func collectSigners() async {
        let signers = Signers.shared.report()
        let names = Set(signers.map(\.name)).sorted()
        let counts = { (figure: (SignerStatus) -> Int) -> [Series] in
            names.map { name in
                ([("signer", name)], Double(signers.filter { $0.name == name }.map(figure).reduce(0, +)))
            }
        }
        set("privyseal_signer_processes", counts { $0.processes.count })
        set("privyseal_signer_processes_wanted", counts { $0.processesWanted })
        guard gateway.audit != nil else { return }
        set("privyseal_signatures_without_record", Double(await Signers.shared.signaturesWithoutRecord()))
    }

    private func collectFleet() {
        guard let census = fleet?.census else { return }
        set(
            "privyseal_fleet_gateways",
            [("live", census.live), ("silent", census.silent), ("left", census.left)].map { state, count in
                ([("state", state)], Double(count))
            })
        set("privyseal_fleet_read_age_seconds", census.age / .seconds(1))
    }

    private func collectAudit() {
        guard let audit = gateway.audit else { return }
        set("privyseal_audit_up", audit.state.isWritable ? 1 : 0)
        set("privyseal_audit_size", Double(audit.entryCount))
        if let free = audit.freeBytes { set("privyseal_audit_free_bytes", Double(free)) }
        set("privyseal_audit_short_of_space", audit.isShortOfSpace ? 1 : 0)
    }

    private func collectTokens(_ reports: [KeyBackendReport]) {
        let tokens = reports.compactMap { report in
            let isDown = if case .unavailable = report.health { true } else { false }
            return report.pool.map { (name: report.name ?? "unnamed", isDown: isDown, pool: $0) }
        }
        set("privyseal_token_up", tokens.map { ([("token", $0.name)], $0.isDown ? 0 : 1) })
        set("privyseal_token_queue_depth", tokens.map { ([("token", $0.name)], Double($0.pool.queueDepth)) })
        set("privyseal_token_queue_limit", tokens.map { ([("token", $0.name)], Double($0.pool.queueLimit)) })
        set(
            "privyseal_token_sessions",
            tokens.flatMap { token in
                let pool = token.pool
                return [("wanted", pool.wanted), ("ready", pool.ready), ("busy", pool.busy), ("stuck", pool.hungCalls)]
                    .map { state, count in ([("token", token.name), ("state", state)], Double(count)) }
            })
    }

    private func set(_ name: String, _ series: [Series]) { prometheus.replaceGauges(name, with: series) }

    private func set(_ name: String, _ value: Double) { set(name, [([], value)]) }
}
