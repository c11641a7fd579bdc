import StrictJSON

extension Shape {
    /// `SubscriptionModifyInAppRequest`
    static let modifySubscription = operation(
        .required("transactionId", .identifier()),
        .required("retainBillingCycle", .boolean),
        .optional("addItems", .list(.addedItem)),
        .optional("changeItems", .list(.changedItem)),
        .optional("removeItems", .list(.namedItem)),
        .optional("descriptors", .object(.changedDescriptors)),
        .optional("periodChange", .object(.periodChange)),
        .optional("currency", .currency),
        .optional("taxCode", .identifier()),
        .optional("storefront", .storefront),
        together: { request throws(JSONReadError) in try request.refuseLaterChangesOfANewBillingCycle() }
    )
}

extension JSONObject {
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
            if try value.string() == Vocabulary.nextBillCycle {
                throw JSONReadError(
                    .invalid("must be \(Vocabulary.immediately) when retainBillingCycle is false"))
            }
        }
    }
}
