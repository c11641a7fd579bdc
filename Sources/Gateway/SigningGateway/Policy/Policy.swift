import SigningKit

/// What one client may have signed. A request that no rule allows is denied.
///
/// `matchingRules` checks the names before any lookup, so that a client cannot learn which apps exist. When the request
/// is read, `MatchingRules.rule` checks its products and offers.
struct Policy: Sendable {
    private let client: String
    private let origin: String
    private let rules: [AccessRule]

    init(_ settings: ClientSettings) {
        client = settings.name
        origin = settings.origin
        rules = settings.rules.map(AccessRule.init)
    }

    /// The rules that allow the names.
    func matchingRules(app: String, feature: String, keyID: String?) throws(Denial) -> MatchingRules {
        var matchingRules = MatchingRules(client: client, origin: origin, rules: rules)
        try matchingRules.narrow(to: .app(app)) { $0.apps.matches(app) }
        try matchingRules.narrow(to: .feature(feature)) { $0.features.matches(feature) }
        if let keyID { try matchingRules.narrow(to: .key(keyID)) { $0.keyIDs.matches(keyID) } }
        return matchingRules
    }
}

/// A rule in a form for fast matching. It is a class, so that passing it on costs one reference.
final class AccessRule: Sendable {
    let apps: PatternSet
    let features: PatternSet
    let products: PatternSet
    let offers: PatternSet
    let keyIDs: PatternSet
    let allowsEverySubject: Bool
    let origin: String

    init(_ settings: RuleSettings) {
        apps = PatternSet(settings.apps)
        features = PatternSet(settings.features)
        products = PatternSet(settings.products)
        offers = PatternSet(settings.offers)
        keyIDs = PatternSet(settings.keyIDs)
        allowsEverySubject = products.isEverything && offers.isEverything
        origin = settings.origin
    }
}
