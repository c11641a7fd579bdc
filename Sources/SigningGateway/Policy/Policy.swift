import SigningKit

/// What one client may have signed. Whatever no rule allows is denied.
///
/// The names come first (`permit`), before anything is looked up, so that a client cannot learn which apps there are; what a
/// request is about comes once it is read (`Permit.rule`).
struct Policy: Sendable {
    private let client: String
    private let origin: String
    private let rules: [AccessRule]

    init(_ plan: ClientPlan) {
        client = plan.name
        origin = plan.origin
        rules = plan.rules.map(AccessRule.init)
    }

    /// The rules that allow the names.
    ///
    /// - Parameter keyID: nil when the request names none.
    func permit(app: String, feature: String, keyID: String?) throws(Denial) -> Permit {
        var permit = Permit(client: client, origin: origin, rules: rules)
        try permit.narrow(to: .app(app)) { $0.apps.matches(app) }
        try permit.narrow(to: .feature(feature)) { $0.features.matches(feature) }
        if let keyID { try permit.narrow(to: .key(keyID)) { $0.keyIDs.matches(keyID) } }
        return permit
    }
}

/// A rule, laid out for look-up. An object, so that passing it on costs one reference.
final class AccessRule: Sendable {
    let apps: PatternSet
    let features: PatternSet
    let products: PatternSet
    let offers: PatternSet
    let keyIDs: PatternSet
    let allowsEverySubject: Bool
    let origin: String

    init(_ plan: RulePlan) {
        apps = PatternSet(plan.apps)
        features = PatternSet(plan.features)
        products = PatternSet(plan.products)
        offers = PatternSet(plan.offers)
        keyIDs = PatternSet(plan.keyIDs)
        allowsEverySubject = products.isEverything && offers.isEverything
        origin = plan.origin
    }
}
