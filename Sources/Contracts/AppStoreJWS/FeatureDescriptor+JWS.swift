public import SigningKit

extension FeatureDescriptor {
    /// A feature that makes a JWS.
    ///
    /// - Parameters:
    ///   - audience: The claim `aud`, which is also the feature's ID.
    ///   - claims: Nil if the claims are the members of the request.
    public init(
        audience: String, name: String, summary: String, description: String, fields: [FeatureField],
        answer: [FeatureField] = JWSAnswer.fields, claims: [FeatureField]? = nil, openAPI: String = ""
    ) {
        self.init(
            id: audience, name: name, summary: summary, description: description, fields: fields, answer: answer,
            claims: claims ?? fields, openAPI: openAPI)
    }
}

/// Claims that several audiences share.
extension FeatureField {
    public static let productID = FeatureField(
        "productId", .identifier, "The subscription's product identifier.", example: #""com.example.app.monthly""#,
        synonyms: ["product", "productidentifier", "sku"])

    /// - Parameter note: A further sentence, with a space in front.
    public static func transactionID(isRequired: Bool, _ note: String = "") -> FeatureField {
        FeatureField(
            "transactionId", .identifier, isRequired: isRequired,
            "Any transaction of the customer, or the appTransactionID.\(note)", example: #""70000123456789""#,
            synonyms: ["transactionidentifier", "originaltransactionid", "apptransactionid"])
    }
}
