import SigningKit

/// The rules that allow what is known of a request so far; never none.
struct Permit: Sendable {
    private let client: String
    /// Of whom it was that came closest: the client itself, until a rule has matched.
    private var origin: String
    private var rules: [AccessRule]

    init(client: String, origin: String, rules: [AccessRule]) {
        self.client = client
        self.origin = origin
        self.rules = rules
    }

    /// Whether a rule allows all products and offers, so that nobody needs to look which a request names.
    var allowsEverySubject: Bool { rules.contains(where: \.allowsEverySubject) }

    /// The rule that allows all of the subject: the first, where there are more.
    ///
    /// - Returns: its origin.
    func rule(for subject: OfferSubject) throws(Denial) -> String {
        var rest = self
        for product in subject.products { try rest.narrow(to: .product(product)) { $0.products.matches(product) } }
        for offer in subject.offers { try rest.narrow(to: .offer(offer)) { $0.offers.matches(offer) } }
        return rest.origin
    }

    /// Leaves the rules that allow one thing more.
    mutating func narrow(to thing: DeniedThing, by matches: (AccessRule) -> Bool) throws(Denial) {
        // Nearly always all of them, and then nothing needs to be copied.
        if let odd = rules.firstIndex(where: { !matches($0) }) {
            var rest = Array(rules[..<odd])
            for rule in rules[(odd + 1)...] where matches(rule) { rest.append(rule) }
            rules = rest
        }
        guard let first = rules.first else { throw Denial(of: thing, client: client, origin: origin) }
        origin = first.origin
    }
}
