import Metrics
import SigningKit
import Synchronization

/// An authenticated caller. A request keeps its client until it is answered, even if the configuration changes.
public final class Client: Sendable {
    public let name: String
    /// Whether it may use the admin listener.
    public let isAdministrator: Bool
    /// The client as a person for dual control.
    public let administrator: Administrator
    /// Where the client is configured.
    public let origin: String

    let policy: Policy
    let limits: ClientLimits
    let usage: ClientUsage
    private let counters = Mutex<[(feature: String, counters: RequestCounters)]>([])

    init(_ settings: ClientSettings, usage: ClientUsage = ClientUsage()) {
        name = settings.name
        isAdministrator = settings.isAdministrator
        administrator = settings.isAdministrator ? Administrator(settings) : Administrator(name: settings.name)
        origin = settings.origin
        policy = Policy(settings)
        limits = ClientLimits(client: settings.name, rate: settings.rate, dailyQuota: settings.dailyQuota)
        self.usage = usage
    }

    // MARK: Clients that are not configured

    static let anonymousName = "anonymous"
    private static let operatorName = "operator"

    /// The operator on the command line. Access to the configuration and the keys gives it all rights, without limits.
    public static let `operator` = everything(named: operatorName, origin: "the command line", isOperator: true)

    static func everything(named name: String, origin: String, isOperator: Bool = false) -> Client {
        let all = [Pattern("*")]
        var rule = RuleSettings(apps: all, features: all, products: all, offers: all, keyIDs: all, origin: origin)
        rule.isOfOperator = isOperator
        if isOperator { (rule.services, rule.scopes, rule.origins, rule.subjects) = (all, all, all, all) }
        return Client(ClientSettings(name: name, rules: [rule], origin: origin))
    }

    // MARK: Rate and quota

    /// The state of the rate and the quota; nil for a limit that is not set. This takes no request.
    public func standing(at moment: RateLimitTime) -> (rate: RateLimitStatus?, quota: RateLimitStatus?) {
        usage.standing(within: limits, at: moment)
    }

    // MARK: Metrics

    /// The counters of one feature. They are made at the first request, so a rejected configuration creates no metrics.
    ///
    /// A linear search is enough: a client has few features, and equal IDs are the same string in memory.
    func counters(of feature: String) -> RequestCounters {
        counters.withLock { known in
            for entry in known where entry.feature == feature { return entry.counters }
            let made = RequestCounters(feature: feature, client: name)
            known.append((feature, made))
            return made
        }
    }
}

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

    func note(_ answer: Result<[UInt8], GatewayError>) {
        switch answer {
        case .success: signed.increment()
        case .failure(let error): note(error)
        }
    }

    /// Counts an invalid request as refused, one that policy forbids as denied, and one without a signature or an audit
    /// entry as unsigned. A batch over a limit counts as the number of its requests.
    func note(_ error: GatewayError) {
        switch error {
        case .key, .keyNotInUse, .noKeyInUse, .unrecorded: unsigned.increment()
        case .request, .unknownApp, .unknownFeature, .unknownService, .unknownKey: refused.increment()
        case .forbidden: denied.increment()
        case .limited(let refusal):
            limited.increment(by: refusal.count)
            limits[refusal.kind]?.increment(by: refusal.count)
        }
    }
}
