/// The gateway's listeners.
public enum ListenerName: String, Encodable, CaseIterable, Sendable {
    /// For apps' servers.
    case `public`
    /// For administrators.
    case admin
    /// For Prometheus.
    case metrics
}
