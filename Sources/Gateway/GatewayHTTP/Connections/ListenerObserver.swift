import GatewayConfiguration
import HTTPTypes
import Logging
import Metrics

/// Counts and logs the events of a listener's connections.
struct ListenerObserver: ConnectionObserver {
    private static let logger = Logger(label: "privyseal.connections")

    let listener: ListenerName
    let log: (any AccessLog)?
    let metrics: RequestMetrics?

    func noteRefused() { count("limit") }

    func noteOverdue(_ phase: RequestTimeouts.Phase) {
        switch phase {
        case .handshake: count("handshake")
        case .arriving, .answering: count("timeout")
        // Silence between two requests is normal.
        case .idle: break
        }
    }

    func noteFailedHandshake(_ error: any Error) {
        count("handshake")
        Self.logger.debug("A TLS handshake failed: \(error)", metadata: ["listener": "\(listener.rawValue)"])
    }

    func noteAnswered(_ problem: Problem) {
        let record = AccessRecord(
            requestID: problem.requestID ?? "-", traceID: nil, listener: listener, method: "-", route: nil,
            status: problem.status.code, duration: .zero, client: nil, app: nil, feature: nil,
            problem: problem.kind.rawValue)
        metrics?.note(record)
        log?.write(record)
    }

    private func count(_ reason: String) {
        Counter(
            label: "privyseal_connections_refused_total",
            dimensions: [("listener", listener.rawValue), ("reason", reason)]
        ).increment()
    }
}

/// Receives events of connections that no route reports.
protocol ConnectionObserver: Sendable {
    /// The connection limit is reached.
    func noteRefused()
    /// The connection exceeded the timeout of this phase.
    func noteOverdue(_ phase: RequestTimeouts.Phase)
    func noteFailedHandshake(_ error: any Error)
    /// The connection ended with this answer, and none of its requests reports it.
    func noteAnswered(_ problem: Problem)
}
