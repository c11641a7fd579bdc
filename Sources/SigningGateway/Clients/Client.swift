import SigningKit
import Synchronization

/// A caller that has proved who it is: what a request holds on to until it is answered, also when the configuration
/// changes meanwhile.
public final class Client: Sendable {
    public let name: String
    /// Whether it may use the admin listener.
    public let isAdministrator: Bool
    /// The person that dual control sees in it.
    public let administrator: Administrator
    /// Where it is configured.
    public let origin: String

    let policy: Policy
    let limits: ClientLimits
    let usage: ClientUsage
    private let counters = Mutex<[(feature: String, counters: RequestCounters)]>([])

    init(_ plan: ClientPlan, usage: ClientUsage = ClientUsage()) {
        name = plan.name
        isAdministrator = plan.isAdministrator
        administrator = plan.isAdministrator ? Administrator(plan) : Administrator(name: plan.name)
        origin = plan.origin
        policy = Policy(plan)
        limits = ClientLimits(client: plan.name, rate: plan.rate, dailyQuota: plan.dailyQuota)
        self.usage = usage
    }

    // MARK: Those who are not configured

    /// Names that a configuration should not give to a client: labels of metrics would say two things.
    public static let reservedNames = [anonymousName, operatorName]

    static let anonymousName = "anonymous"
    private static let operatorName = "operator"

    /// Who runs the command line: whoever can read the configuration and open the keys may everything, without limits.
    public static let `operator` = everything(named: operatorName, origin: "the command line")

    static func everything(named name: String, origin: String) -> Client {
        let all = [Pattern("*")]
        let rule = RulePlan(apps: all, features: all, products: all, offers: all, keyIDs: all, origin: origin)
        return Client(ClientPlan(name: name, rules: [rule], origin: origin))
    }

    // MARK: What it has used up

    /// The rate and the quota as they stand, nil where there is none. Takes nothing.
    public func standing(at moment: LimitMoment) -> (rate: RateLimitStatus?, quota: RateLimitStatus?) {
        usage.standing(within: limits, at: moment)
    }

    // MARK: Counting

    /// The counters of one feature, made when the client first asks for it: a client of a configuration that is refused
    /// leaves no trace.
    ///
    /// A client has a handful of features, and their IDs are the same strings in memory: comparing them compares pointers.
    func counters(of feature: String) -> RequestCounters {
        counters.withLock { known in
            for entry in known where entry.feature == feature { return entry.counters }
            let made = RequestCounters(feature: feature, client: name)
            known.append((feature, made))
            return made
        }
    }
}
