extension Rule {
    static let sku = Rule.identifier(atMost: 128)
    /// The customer sees it.
    static let displayName = Rule.words(atMost: 30)
    /// The customer does not see it; no personal data belongs in it.
    static let description = Rule.words(atMost: 45)
}

extension Shape {
    /// What is bought once.
    static let oneTimeItem = Shape(
        .required("SKU", .sku),
        .required("displayName", .displayName),
        .required("description", .description),
        .required("price", .amount)
    )

    /// One item of a new subscription.
    static let subscriptionItem = Shape(
        .required("SKU", .sku),
        .required("displayName", .displayName),
        .required("description", .description),
        .required("price", .amount),
        .optional("offer", .object(.offer))
    )

    /// An item that joins a subscription.
    static let addedItem = Shape(
        .required("SKU", .sku),
        .required("displayName", .displayName),
        .required("description", .description),
        .required("price", .amount),
        .optional("offer", .object(.offer)),
        .optional("proratedPrice", .amount)
    )

    /// An item of a subscription that takes the place of another, or changes its price.
    static let changedItem = Shape(
        .required("currentSKU", .sku),
        .required("SKU", .sku),
        .required("displayName", .displayName),
        .required("description", .description),
        .required("price", .amount),
        .required("effective", .oneOf(Vocabulary.effective)),
        .required("reason", .oneOf(Vocabulary.changeReasons)),
        .optional("offer", .object(.offer)),
        .optional("proratedPrice", .amount)
    )

    /// An item that is only named: one that leaves a subscription, or comes back with it.
    static let namedItem = Shape(.required("SKU", .sku))
}
