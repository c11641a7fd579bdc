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
    ///
    /// - Parameter byName: whether a rule must name the feature (`FeatureDescriptor.isGrantedByName`).
    func matchingRules(
        app: String, feature: String, byName: Bool, keyID: String?
    ) throws(Denial) -> MatchingRules {
        var matchingRules = MatchingRules(client: client, origin: origin, rules: rules)
        try matchingRules.narrow(to: .app(app)) { $0.apps.matches(app) }
        try matchingRules.narrow(to: .feature(feature)) {
            byName && !$0.isOfOperator ? $0.features.names(feature) : $0.features.matches(feature)
        }
        if let keyID { try matchingRules.narrow(to: .key(keyID)) { $0.keyIDs.matches(keyID) } }
        return matchingRules
    }

    /// The rules that allow tokens for the service.
    func matchingRules(service: String) throws(Denial) -> MatchingRules {
        var matchingRules = MatchingRules(client: client, origin: origin, rules: rules)
        try matchingRules.narrow(to: .service(service)) { $0.services.matches(service) }
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
    let services: PatternSet
    let scopes: PatternSet
    let origins: PatternSet
    let subjects: PatternSet
    let maximumLifetime: Int?
    let allowsEverySubject: Bool
    let isOfOperator: Bool
    let origin: String

    init(_ settings: RuleSettings) {
        apps = PatternSet(settings.apps)
        features = PatternSet(settings.features)
        products = PatternSet(settings.products)
        offers = PatternSet(settings.offers)
        keyIDs = PatternSet(settings.keyIDs)
        services = PatternSet(settings.services)
        scopes = PatternSet(settings.scopes)
        origins = PatternSet(settings.origins)
        subjects = PatternSet(settings.subjects)
        maximumLifetime = settings.maximumLifetime
        allowsEverySubject = products.isEverything && offers.isEverything
        isOfOperator = settings.isOfOperator
        origin = settings.origin
    }
}

/// A denied part of a request. The description names only what the client itself requested.
public struct Denial: Error, Equatable, Sendable {
    /// The first thing that no rule allows, in the order of `DeniedThing`.
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
    /// The service may exist or not.
    case service(String)
    case scope(String)
    case origin(String)
    case subject(String)
    /// In seconds; `Int64.max` for what has no end.
    case lifetime(Int64)
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
        case .service(let name): "The client \(client) may not have tokens for the service \"\(name)\"."
        case .scope(let scope): "The client \(client) may not choose the scope \"\(scope)\" for this service."
        case .origin(let origin): "The client \(client) may not choose the origin \"\(origin)\" for this service."
        case .subject(let subject): "The client \(client) may not choose the subject \"\(subject)\" for this service."
        case .lifetime(.max):
            "The client \(client) may have tokens of this service for a limited time only, and a signed URL has no end."
        case .lifetime(let seconds):
            "The client \(client) may not have a token of this service that is valid for \(seconds) seconds. If requests to "
                + "the service have \"lifetime\", choose fewer seconds with it."
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
        for scope in subject.scopes { try rest.narrow(to: .scope(scope)) { $0.scopes.matches(scope) } }
        for origin in subject.origins { try rest.narrow(to: .origin(origin)) { $0.origins.matches(origin) } }
        if let chosen = subject.subject { try rest.narrow(to: .subject(chosen)) { $0.subjects.matches(chosen) } }
        if let lifetime = subject.lifetime {
            try rest.narrow(to: .lifetime(lifetime)) { rule in rule.maximumLifetime.map { lifetime <= $0 } ?? true }
        }
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
    private let exact: Set<ExactText>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        exact = Set(patterns.filter(\.isExact).map { ExactText($0.text) })
        self.patterns = patterns.filter { !$0.isExact }
    }

    /// Whether one of the patterns is this text.
    func names(_ text: String) -> Bool { exact.contains(ExactText(text)) }

    func matches(_ text: String) -> Bool {
        isEverything || names(text) || patterns.contains { $0.matches(text) }
    }
}
