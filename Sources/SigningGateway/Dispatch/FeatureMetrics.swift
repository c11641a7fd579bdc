import Metrics
import SigningKit

/// What becomes of a feature's requests, for whatever backend the program gives to swift-metrics.
struct FeatureMetrics: Sendable {
    private let signed: Counter
    private let refused: Counter
    private let unsigned: Counter

    init(_ feature: FeatureDescriptor) {
        func counter(_ outcome: String) -> Counter {
            Counter(label: "privyseal_requests_total", dimensions: [("feature", feature.id), ("outcome", outcome)])
        }
        signed = counter("signed")
        refused = counter("refused")
        unsigned = counter("unsigned")
    }

    func noteSigned() { signed.increment() }

    /// - Parameter error: a bad request is refused; a key that gives no signature leaves it unsigned.
    func note(_ error: GatewayError) {
        switch error {
        case .key: unsigned.increment()
        case .request, .unknownApp, .unknownFeature, .unknownKey: refused.increment()
        }
    }
}
