import GatewayHTTP
import Metrics
import PrometheusMetrics
import SigningGateway
import SigningKit

/// Sets, whenever somebody looks, the metrics that say how things are.
struct GaugeCollector: Sendable {
    let gateway: LiveGateway
    let registry: ConnectionRegistry
    let doors: Doors

    func register(with prometheus: PrometheusRegistry) {
        gauge("privyseal_build_info", [("version", Version.text)], 1)
        prometheus.onScrape { await collect() }
    }

    private func collect() async {
        let ring = gateway.current.ring
        let connections = registry.counts()
        for plan in doors.plans {
            let listener = [("listener", plan.name.rawValue)]
            gauge("privyseal_connections", listener, connections[plan.name] ?? 0)
            if let tls = plan.tls {
                gauge("privyseal_tls_certificate_expiry_timestamp_seconds", listener, tls.expiry)
            }
        }
        for name in ["ready", "degraded", "down", "refused"] {
            gauge("privyseal_keys", [("state", name)], ring.slots.count { $0.state.name == name })
        }
        for report in await ring.report() where report.pool != nil || report.token != nil { collect(report) }
    }

    private func collect(_ report: KeyBackendReport) {
        let token = [("token", report.name)]
        gauge("privyseal_token_up", token, report.health.isUp ? 1 : 0)
        guard let pool = report.pool else { return }
        gauge("privyseal_token_queue_depth", token, pool.queueDepth)
        gauge("privyseal_token_queue_limit", token, pool.queueLimit)
        for (state, count) in [
            ("wanted", pool.wanted), ("ready", pool.ready), ("busy", pool.busy), ("stuck", pool.stuck),
        ] {
            gauge("privyseal_token_sessions", token + [("state", state)], count)
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)], _ value: Int) {
        Gauge(label: label, dimensions: dimensions).record(value)
    }
}

extension KeyBackendHealth {
    fileprivate var isUp: Bool {
        if case .unavailable = self { false } else { true }
    }
}
