/// The identifiers in a request on which policy and the audit log depend.
public struct OfferSubject: Hashable, Sendable {
    /// Product identifiers and SKUs, in the order of the request, without duplicates.
    public let products: [String]
    /// Offer identifiers, in the order of the request, without duplicates.
    public let offers: [String]
    /// Identifies the user: an account token, user name or transaction. Only its keyed hash is kept, in the audit log.
    public let user: String?

    public init(products: [String] = [], offers: [String] = [], user: String? = nil) {
        self.products = products
        self.offers = offers
        self.user = user
    }
}
