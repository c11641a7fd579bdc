/// The doors of the gateway.
public enum ListenerName: String, Hashable, CaseIterable, Sendable {
    /// For apps' servers.
    case `public`
    /// For operators.
    case admin
    /// For Prometheus.
    case metrics
}
