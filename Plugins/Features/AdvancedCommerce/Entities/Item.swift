extension Rule {
    static let sku = Rule.identifier(atMost: 128)
    /// Visible to the customer.
    static let displayName = Rule.words(atMost: 30)
    /// Not visible to the customer; it must not hold personal data.
    static let description = Rule.words(atMost: 45)
}

extension Shape {
    static let oneTimeItem = item()

    /// One item of a new subscription.
    static let subscriptionItem = item(.optional("offer", .object(.offer)))

    static let addedItem = item(.optional("offer", .object(.offer)), .optional("proratedPrice", .amount))

    /// An item of a subscription that replaces another one or changes its price.
    static let changedItem = item(
        .required("currentSKU", .sku),
        .required("effective", .oneOf(Vocabulary.effective)),
        .required("reason", .oneOf(Vocabulary.changeReasons)),
        .optional("offer", .object(.offer)),
        .optional("proratedPrice", .amount)
    )

    /// An item that a request only names: it is removed from a subscription, or reactivated with it.
    static let namedItem = Shape(.required("SKU", .sku))

    private static func item(_ others: Member...) -> Shape {
        Shape(
            [
                .required("SKU", .sku), .required("displayName", .displayName), .required("description", .description),
                .required("price", .amount),
            ] + others)
    }
}
