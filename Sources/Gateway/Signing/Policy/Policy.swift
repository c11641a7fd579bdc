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

/// A denied part of a request. The description names only what the client itself requested.
public struct Denial: Error, Equatable, Sendable {
    /// The first thing that no rule allows, in the order app, feature, key, product, offer.
    public let thing: DeniedThing
    public let client: String
    /// For the operator: the origin of the first rule that allowed all before `thing`, or of the client if none did.
    public let origin: String

    public init(of thing: DeniedThing, client: String, origin: String) {
        self.thing = thing
        self.client = client
        self.origin = origin
    }
}

/// A part of a request, with the identifier from the request.
public enum DeniedThing: Equatable, Sendable {
    /// The app may exist or not.
    case app(String)
    case feature(String)
    case key(String)
    /// No single rule allows it together with the things before it.
    case product(String)
    case offer(String)
}

extension Denial: CustomStringConvertible {
    /// The text for the caller.
    public var description: String {
        switch thing {
        case .app(let id): "The client \(client) may not use the app \"\(id)\"."
        case .feature(let id): "The client \(client) may not use the feature \"\(id)\" of this app."
        case .key(let id): "The client \(client) may not name the key \"\(id)\"."
        case .product(let id): "The client \(client) may not have the product \"\(id)\" signed in this request."
        case .offer(let id): "The client \(client) may not have the offer \"\(id)\" signed in this request."
        }
    }
}

/// The rules that allow the known parts of a request. There is at least one.
struct MatchingRules: Sendable {
    fileprivate let client: String
    /// The origin of the first rule in `rules`; the origin of the client before the first match.
    fileprivate var origin: String
    fileprivate var rules: [AccessRule]

    /// Whether a rule allows all products and offers, so that those of the request need no check.
    var allowsEverySubject: Bool { rules.contains(where: \.allowsEverySubject) }

    /// The origin of the first rule that allows the whole subject.
    func rule(for subject: OfferSubject) throws(Denial) -> String {
        var rest = self
        for product in subject.products { try rest.narrow(to: .product(product)) { $0.products.matches(product) } }
        for offer in subject.offers { try rest.narrow(to: .offer(offer)) { $0.offers.matches(offer) } }
        return rest.origin
    }

    /// Keeps the rules that also allow `thing`.
    mutating func narrow(to thing: DeniedThing, by matches: (AccessRule) -> Bool) throws(Denial) {
        // Usually all rules match, and nothing is copied.
        if let odd = rules.firstIndex(where: { !matches($0) }) {
            var rest = Array(rules[..<odd])
            for rule in rules[(odd + 1)...] where matches(rule) { rest.append(rule) }
            rules = rest
        }
        guard let first = rules.first else { throw Denial(of: thing, client: client, origin: origin) }
        origin = first.origin
    }
}

/// Patterns of which one must match.
struct PatternSet: Sendable {
    /// Whether every identifier matches.
    let isEverything: Bool
    private let names: Set<ExactText>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        names = Set(patterns.filter(\.isExact).map { ExactText($0.text) })
        self.patterns = patterns.filter { !$0.isExact }
    }

    func matches(_ text: String) -> Bool {
        isEverything || names.contains(ExactText(text)) || patterns.contains { $0.matches(text) }
    }
}
