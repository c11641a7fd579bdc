extension Shape {
    /// `SubscriptionReactivateInAppRequest`
    static let reactivateSubscription = operation(
        .required("transactionId", .identifier()),
        .optional("items", .list(.namedItem)),
        .optional("storefront", .storefront)
    )
}
