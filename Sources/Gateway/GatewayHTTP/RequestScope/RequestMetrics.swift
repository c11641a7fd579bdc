import GatewayConfiguration
import Metrics
import Signing
import Synchronization

/// Counts answers, and times the requests of features. Labels are bounded: they hold path templates, not paths.
final class RequestMetrics: Sendable {
    private struct Answer: Hashable {
        let listener: ListenerName
        let route: String?
        let status: Int
    }

    private let answers = Mutex<[Answer: Counter]>([:])
    private let features = Mutex<[String: Timer]>([:])

    func note(_ record: AccessRecord) {
        let answer = Answer(listener: record.listener, route: record.route, status: record.status)
        let counter = answers.withLock { answers in
            if let known = answers[answer] { return known }
            let counter = Counter(
                label: "privyseal_http_responses_total",
                dimensions: [
                    ("listener", answer.listener.rawValue), ("route", answer.route ?? "unknown"),
                    ("status", String(answer.status)),
                ])
            answers[answer] = counter
            return counter
        }
        counter.increment()
        if let feature = record.feature { timer(feature).record(duration: record.duration) }
    }

    private func timer(_ feature: String) -> Timer {
        features.withLock { features in
            if let known = features[feature] { return known }
            let timer = Timer(label: "privyseal_request_duration_seconds", dimensions: [("feature", feature)])
            features[feature] = timer
            return timer
        }
    }
}
