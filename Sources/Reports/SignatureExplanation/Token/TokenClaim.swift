import StrictJSON

struct TokenClaim: Sendable {
    let name: String
    let kind: JSONKind
    let isRequired: Bool

    init(_ name: String, _ kind: JSONKind, isRequired: Bool = true) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
    }

    /// The claims of all audiences.
    static let base = [
        TokenClaim("iss", .string), TokenClaim("iat", .number), TokenClaim("aud", .string), TokenClaim("bid", .string),
        TokenClaim("nonce", .string),
    ]

    /// The claim for which `name` is a known misspelling or synonym, or nil.
    static func meant(by name: String) -> String? {
        let plain = name.lowercased().filter { $0 != "_" && $0 != "-" }
        return meanings[plain]
    }

    private static let meanings: [String: String] = [
        "issuer": "iss", "issuerid": "iss", "iss": "iss",
        "issuedat": "iat", "iat": "iat", "timestamp": "iat",
        "audience": "aud", "aud": "aud",
        "bundleid": "bid", "bundleidentifier": "bid", "appbundleid": "bid", "bid": "bid",
        "nonce": "nonce",
        "product": "productId", "productid": "productId", "productidentifier": "productId", "sku": "productId",
        "offer": "offerIdentifier", "offerid": "offerIdentifier", "offeridentifier": "offerIdentifier",
        "subscriptionofferid": "offerIdentifier", "discountid": "offerIdentifier",
        "transactionid": "transactionId", "transactionidentifier": "transactionId",
        "originaltransactionid": "transactionId", "apptransactionid": "transactionId",
        "allowintroductoryoffer": "allowIntroductoryOffer", "allowintrooffer": "allowIntroductoryOffer",
        "request": "request", "requestdata": "request",
    ]
}
