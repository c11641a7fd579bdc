import Metrics

/// The swift-metrics counters for the results of one client's requests for one feature.
final class RequestCounters: Sendable {
    private let signed: Counter
    private let refused: Counter
    private let denied: Counter
    private let limited: Counter
    private let unsigned: Counter
    private let limits: [RateLimitKind: Counter]

    init(feature: String, client: String) {
        func counter(_ outcome: String) -> Counter {
            Counter(
                label: "privyseal_requests_total",
                dimensions: [("feature", feature), ("client", client), ("outcome", outcome)])
        }
        signed = counter("signed")
        refused = counter("refused")
        denied = counter("denied")
        limited = counter("limited")
        unsigned = counter("unsigned")
        limits = Dictionary(
            RateLimitKind.allCases.map { kind in
                let dimensions = [("client", client), ("limit", kind.rawValue)]
                return (kind, Counter(label: "privyseal_rate_limited_total", dimensions: dimensions))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The label for requests that name an unknown feature: text from a caller must not become a label.
    static let unknownFeature = "unknown"

    func noteSigned() { signed.increment() }

    /// Counts an invalid request as refused, one that policy forbids as denied, and one without a signature or an audit
    /// entry as unsigned. A batch over a limit counts as the number of its requests.
    func note(_ error: GatewayError) {
        switch error {
        case .key, .keyNotInUse, .noKeyInUse, .unrecorded: unsigned.increment()
        case .request, .unknownApp, .unknownFeature, .unknownKey: refused.increment()
        case .forbidden: denied.increment()
        case .limited(let refusal):
            limited.increment(by: refusal.count)
            limits[refusal.kind]?.increment(by: refusal.count)
        }
    }
}
