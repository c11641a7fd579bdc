import StrictJSON

extension Shape {
    /// `OneTimeChargeCreateRequest`
    static let createOneTimeCharge = operation(
        .required("currency", .currency),
        .required("taxCode", .identifier()),
        .required("item", .object(.oneTimeItem)),
        .optional("storefront", .storefront),
        together: { request throws(JSONReadError) in
            try request.refuseConsistencyToken("must not be sent with a one-time charge; leave it out")
        }
    )
}
