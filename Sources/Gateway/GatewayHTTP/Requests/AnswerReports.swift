public import GatewayConfiguration
import HTTPTypes
import Logging
import Metrics
import Synchronization
public import TraceContext

/// The access log's record of an answered request. It holds no query, body or credential.
public struct AccessRecord: Sendable {
    public let requestID: String
    /// 32 hexadecimal digits.
    public let traceID: String?
    public let listener: ListenerName
    public let method: String
    /// The path template, such as `/v1/apps/{bundleId}/{feature}`; nil for an unknown path.
    public let route: String?
    public let status: Int
    public let duration: Duration
    public let client: String?
    public let app: String?
    public let feature: String?
    /// The `ProblemKind` of the answer.
    public let problem: String?
}

/// Writes one line for each request.
public protocol AccessLog: Sendable {
    func write(_ record: AccessRecord)
}

/// Records a span for each request, from its head to its answer, for distributed tracing.
public protocol RequestTracing: Sendable {
    /// - Parameter parent: the caller's `traceparent`; nil if the trace begins here.
    func begin(under parent: TraceContext?) -> any RequestSpan
}

public protocol RequestSpan: Sendable {
    /// The span's own context, for the answer's `traceparent`.
    var trace: TraceContext { get }

    /// Spans that `body` creates are children of this one.
    func contain<Result>(_ body: () async throws -> Result) async rethrows -> Result

    func end(_ record: AccessRecord)
}

/// Reports answers to the access log and the metrics, and counts those of the last minute.
///
/// Labels are bounded: they hold path templates, not paths.
final class AnswerReports: Sendable {
    private struct Series: Hashable {
        let listener: ListenerName
        let route: String?
        let status: Int
        let feature: String?
    }

    private static let logger = Logger(label: "privyseal.connections")

    private let log: (any AccessLog)?
    private let series = Mutex<[Series: (answers: Counter, duration: Timer?)]>([:])
    private let seconds = Mutex([Second](repeating: Second(), count: window))
    private let start = ContinuousClock.now

    init(log: (any AccessLog)?) {
        self.log = log
    }

    func note(_ record: AccessRecord) {
        let key = Series(listener: record.listener, route: record.route, status: record.status, feature: record.feature)
        let metrics = series.withLock { series in
            if let known = series[key] { return known }
            let made = (
                Counter(
                    label: "privyseal_http_responses_total",
                    dimensions: [
                        ("listener", key.listener.rawValue), ("route", key.route ?? "unknown"),
                        ("status", String(key.status)),
                    ]),
                key.feature.map { Timer(label: "privyseal_request_duration_seconds", dimensions: [("feature", $0)]) }
            )
            series[key] = made
            return made
        }
        metrics.answers.increment()
        metrics.duration?.record(duration: record.duration)
        count(record.status)
        log?.write(record)
    }

    // MARK: Connections

    /// The connection exceeded the timeout of this phase.
    func noteOverdue(_ phase: RequestTimeouts.Phase, _ listener: ListenerName) {
        // Silence between two requests is normal.
        if phase != .idle { noteRefused(listener, phase == .handshake ? "handshake" : "timeout") }
    }

    func noteFailedHandshake(_ error: any Error, _ listener: ListenerName) {
        noteRefused(listener, "handshake")
        Self.logger.debug("A TLS handshake failed: \(error)", metadata: ["listener": "\(listener.rawValue)"])
    }

    /// The connection ended with this answer, and none of its requests reports it.
    func noteAnswered(_ problem: Problem, _ listener: ListenerName) {
        note(
            AccessRecord(
                requestID: problem.requestID ?? "-", traceID: nil, listener: listener, method: "-", route: nil,
                status: problem.status.code, duration: .zero, client: nil, app: nil, feature: nil,
                problem: problem.kind.name))
    }

    /// - Parameter reason: one of the label's values in docs/operations/metrics.md.
    func noteRefused(_ listener: ListenerName, _ reason: String) {
        Counter(
            label: "privyseal_connections_refused_total",
            dimensions: [("listener", listener.rawValue), ("reason", reason)]
        ).increment()
    }

    // MARK: The last minute

    /// Answers per second over the last minute.
    struct Rates {
        /// Status below 400.
        var answered = 0.0
        /// 4xx.
        var refused = 0.0
        /// 5xx.
        var failed = 0.0
    }

    private struct Second {
        var number: Int64 = -1
        var rates = Rates()
    }

    private static let window = 60

    private func count(_ status: Int) {
        let now = second
        seconds.withLock { seconds in
            let index = Int(now) % Self.window
            if seconds[index].number != now { seconds[index] = Second(number: now) }
            switch status {
            case ..<400: seconds[index].rates.answered += 1
            case ..<500: seconds[index].rates.refused += 1
            default: seconds[index].rates.failed += 1
            }
        }
    }

    var rates: Rates {
        let now = second
        let span = Double(max(1, min(now, Int64(Self.window))))
        return seconds.withLock { seconds in
            var rates = Rates()
            for second in seconds where second.number > now - Int64(Self.window) && second.number >= 0 {
                rates.answered += second.rates.answered / span
                rates.refused += second.rates.refused / span
                rates.failed += second.rates.failed / span
            }
            return rates
        }
    }

    private var second: Int64 { (ContinuousClock.now - start).components.seconds }
}
