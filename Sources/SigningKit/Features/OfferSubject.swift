/// What a request is about: the identifiers in it that policy and the audit log go by. Never a user's.
public struct OfferSubject: Hashable, Sendable {
    /// Product identifiers and SKUs, in the order of the request, each once.
    public let products: [String]
    /// Offer identifiers, in the order of the request, each once.
    public let offers: [String]

    public init(products: [String] = [], offers: [String] = []) {
        self.products = products
        self.offers = offers
    }
}
