import SigningKit
import StrictJSON

/// The requests of the four operations that an app may send; Apple's others go from server to server with a bearer token.
enum Operation {
    private static let shapes: KeyValuePairs<String, Shape> = [
        "CREATE_ONE_TIME_CHARGE": .createOneTimeCharge,
        "CREATE_SUBSCRIPTION": .createSubscription,
        "MODIFY_SUBSCRIPTION": .modifySubscription,
        "REACTIVATE_SUBSCRIPTION": .reactivateSubscription,
    ]

    static func check(_ request: JSONValue) throws(JSONReadError) {
        let object = try request.anyObject()
        let shape = try object.required("operation") { value throws(JSONReadError) in
            let name = try value.string()
            guard let shape = shapes.first(where: { $0.key.hasSameBytes(as: name) })?.value else {
                let known = shapes.map { $0.key }.joined(separator: ", ")
                throw JSONReadError(.invalid("must be one of \(known)"))
            }
            return shape
        }
        let currency = try object.optionalUnlessNull("currency", Currency.init(from:))
        try shape.check(request, currency)
    }
}

// MARK: The requests, by Apple's names of their types

extension Shape {
    /// `OneTimeChargeCreateRequest`
    fileprivate static let createOneTimeCharge = operation(
        .required("currency", .currency),
        .required("taxCode", .identifier()),
        .required("item", .object(item())),
        .optional("storefront", .storefront),
        together: { request throws(JSONReadError) in
            try request.refuseConsistencyToken("must not be sent with a one-time charge; leave it out")
        }
    )

    /// `SubscriptionCreateRequest`
    fileprivate static let createSubscription = operation(
        .required("currency", .currency),
        .required("taxCode", .identifier()),
        .required(
            "descriptors",
            .object(Shape(.required("displayName", .displayName), .required("description", .description)))
        ),
        .required("period", .period),
        .required("items", .list(item(.optional("offer", .object(.offer))))),
        .optional("storefront", .storefront),
        .optional("previousTransactionId", .identifier()),
        together: { request throws(JSONReadError) in
            // The App Store creates the token with the first subscription, so a first request cannot have it.
            guard request.given("previousTransactionId") == nil else { return }
            try request.refuseConsistencyToken(
                "must not be sent with a customer's first subscription; send it only with a previousTransactionId")
        }
    )

    /// `SubscriptionModifyInAppRequest`
    fileprivate static let modifySubscription = operation(
        .required("transactionId", .identifier()),
        .required("retainBillingCycle", .boolean),
        .optional(
            "addItems", .list(item(.optional("offer", .object(.offer)), .optional("proratedPrice", .amount)))),
        .optional("changeItems", .list(.changedItem)),
        .optional("removeItems", .list(.namedItem)),
        .optional("descriptors", .object(.changedDescriptors)),
        .optional(
            "periodChange", .object(Shape(.required("effective", .effective), .required("period", .period)))),
        .optional("currency", .currency),
        .optional("taxCode", .identifier()),
        .optional("storefront", .storefront),
        together: { request throws(JSONReadError) in try request.refuseLaterChangesOfANewBillingCycle() }
    )

    /// `SubscriptionReactivateInAppRequest`
    fileprivate static let reactivateSubscription = operation(
        .required("transactionId", .identifier()),
        .optional("items", .list(.namedItem)),
        .optional("storefront", .storefront)
    )

    /// The request of an operation: the members that all operations have, and its own.
    private static func operation(
        _ members: Member...,
        together: @escaping @Sendable (JSONObject) throws(JSONReadError) -> Void = { _ throws(JSONReadError) in }
    ) -> Shape {
        let shared: [Member] = [
            // `Operation.check` has read this member already, to choose the shape.
            .required("operation", .identifier()),
            .required("version", .oneOf(["1"])),
            .required("requestInfo", .object(.requestInfo)),
        ]
        return Shape(shared + members, together: together)
    }
}

// MARK: The objects in them

extension Shape {
    /// `RequestInfo`. Each operation decides whether it allows a `consistencyToken`.
    private static let requestInfo = Shape(
        .required("requestReferenceId", .uuid),
        .optional("appAccountToken", .uuid),
        .optional("consistencyToken", .identifier())
    )

    /// A discount: `periodCount` periods at `price`.
    private static let offer = Shape(
        .required("period", .oneOf(["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"])),
        .required("periodCount", .integer(in: 1...12)),
        .required("price", .amount),
        .required("reason", .oneOf(["ACQUISITION", "WIN_BACK", "RETENTION"]))
    )

    /// An item of a subscription that replaces another one or changes its price.
    private static let changedItem = item(
        .required("currentSKU", .sku),
        .required("effective", .effective),
        .required("reason", .oneOf(["UPGRADE", "DOWNGRADE", "APPLY_OFFER"])),
        .optional("offer", .object(.offer)),
        .optional("proratedPrice", .amount)
    )

    /// An item that a request only names: it is removed from a subscription, or reactivated with it.
    private static let namedItem = Shape(.required("SKU", .sku))

    private static func item(_ others: Member...) -> Shape {
        Shape(
            [
                .required("SKU", .sku), .required("displayName", .displayName), .required("description", .description),
                .required("price", .amount),
            ] + others)
    }

    /// A new name or description of a subscription, valid at once or from its next bill.
    private static let changedDescriptors = Shape(
        [
            .required("effective", .effective),
            .optional("displayName", .displayName),
            .optional("description", .description),
        ],
        together: { descriptors throws(JSONReadError) in
            // Apple's AtLeastOneOfDisplayNameOrDescription
            if descriptors.given("displayName") == nil, descriptors.given("description") == nil {
                throw JSONReadError(.invalid("must have a displayName, a description or both"))
            }
        }
    )
}

extension Rule {
    fileprivate static let sku = identifier(atMost: 128)
    /// Visible to the customer.
    fileprivate static let displayName = words(atMost: 30)
    /// Not visible to the customer; it must not hold personal data.
    fileprivate static let description = words(atMost: 45)
    /// The length of a subscription's period (ISO 8601).
    fileprivate static let period = oneOf(["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"])
    fileprivate static let effective = oneOf(["IMMEDIATELY", "NEXT_BILL_CYCLE"])
}

// MARK: Rules about several members

extension JSONObject {
    /// - Parameter sentence: why this request cannot carry one.
    fileprivate func refuseConsistencyToken(_ sentence: String) throws(JSONReadError) {
        try required("requestInfo") { info throws(JSONReadError) in
            if try info.anyObject().given("consistencyToken") != nil {
                throw JSONReadError(.invalid(sentence), at: "consistencyToken")
            }
        }
    }

    /// Apple's BillingCycleResetWithEffectiveLater: if a new cycle begins now, no change can wait for the end of one.
    fileprivate func refuseLaterChangesOfANewBillingCycle() throws(JSONReadError) {
        let retainsCycle = try required("retainBillingCycle") { value throws(JSONReadError) in try value.boolean() }
        guard !retainsCycle else { return }
        for name in ["descriptors", "periodChange"] {
            try optionalUnlessNull(name) { value throws(JSONReadError) in try value.anyObject().refuseLaterChange() }
        }
        _ = try optionalUnlessNull("changeItems") { items throws(JSONReadError) in
            try items.elements { item throws(JSONReadError) in try item.anyObject().refuseLaterChange() }
        }
    }

    private func refuseLaterChange() throws(JSONReadError) {
        try required("effective") { value throws(JSONReadError) in
            if try value.string() == "NEXT_BILL_CYCLE" {
                throw JSONReadError(.invalid("must be IMMEDIATELY when retainBillingCycle is false"))
            }
        }
    }
}
