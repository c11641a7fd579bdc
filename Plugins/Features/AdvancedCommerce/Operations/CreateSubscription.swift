import StrictJSON

extension Shape {
    /// `SubscriptionCreateRequest`
    static let createSubscription = operation(
        .required("currency", .currency),
        .required("taxCode", .identifier()),
        .required("descriptors", .object(.descriptors)),
        .required("period", .oneOf(Vocabulary.periods)),
        .required("items", .list(.subscriptionItem)),
        .optional("storefront", .storefront),
        .optional("previousTransactionId", .identifier()),
        together: { request throws(JSONReadError) in
            // The App Store creates the token with the first subscription, so a first request cannot have it.
            guard request.given("previousTransactionId") == nil else { return }
            try request.refuseConsistencyToken(
                "must not be sent with a customer's first subscription; send it only with a previousTransactionId")
        }
    )
}
