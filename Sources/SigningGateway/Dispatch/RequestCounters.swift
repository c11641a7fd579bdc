import Metrics

/// What becomes of one client's requests for one feature, for whatever backend the program gives to swift-metrics.
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

    /// For requests that name no feature that there is: what callers make up must not become a label.
    static let unknownFeature = "unknown"

    func noteSigned() { signed.increment() }

    /// A bad request is refused, one that policy does not allow is denied; a key that gives no signature, or a log that
    /// cannot be written, leaves it unsigned.
    /// A batch that is over a limit counts as many requests as it holds.
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
