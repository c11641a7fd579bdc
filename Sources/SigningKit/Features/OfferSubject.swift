/// What a request is about: the identifiers in it that policy and the audit log go by.
public struct OfferSubject: Hashable, Sendable {
    /// Product identifiers and SKUs, in the order of the request, each once.
    public let products: [String]
    /// Offer identifiers, in the order of the request, each once.
    public let offers: [String]
    /// Whatever tells one user from another: an account token, a user name, a transaction. The log keeps a keyed hash of it,
    /// and nobody else is told.
    public let user: String?

    public init(products: [String] = [], offers: [String] = [], user: String? = nil) {
        self.products = products
        self.offers = offers
        self.user = user
    }
}
