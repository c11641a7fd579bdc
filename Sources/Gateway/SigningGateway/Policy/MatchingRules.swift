import SigningKit

/// The rules that allow the known parts of a request. There is at least one.
struct MatchingRules: Sendable {
    private let client: String
    /// The origin of the first rule in `rules`; the origin of the client before the first match.
    private var origin: String
    private var rules: [AccessRule]

    init(client: String, origin: String, rules: [AccessRule]) {
        self.client = client
        self.origin = origin
        self.rules = rules
    }

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
