extension Shape {
    /// `SubscriptionReactivateInAppRequest`
    static let reactivateSubscription = Shape(
        .required("operation", .operation),
        .required("version", .version),
        .required("requestInfo", .object(.requestInfo)),
        .required("transactionId", .identifier()),
        .optional("items", .list(.namedItem)),
        .optional("storefront", .storefront)
    )
}
