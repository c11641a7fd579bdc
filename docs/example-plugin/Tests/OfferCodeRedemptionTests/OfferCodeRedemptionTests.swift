import OfferCodeRedemption
import SigningKit
import SigningKitTesting
import Testing

@Suite("The JWS of an offer code's redemption")
struct OfferCodeRedemptionTests {
    @Test("keeps the contract of a feature", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            OfferCodeRedemption(),
            vectors: GoldenVector.all(in: .module),
            refusals: [
                FeatureRefusal("{}", .missing("productId")),
                FeatureRefusal(#"{"productId":"p","code":"c"}"#, .unknown("code")),
                FeatureRefusal(#"{"productId":"p","offerCode":""}"#, .invalid("offerCode", saying: "empty")),
                FeatureRefusal(
                    #"{"productId":"p","offerCode":null}"#, .wrongKind("offerCode", expected: .string, found: .null)),
            ],
            form: .jws(audience: "offer-code-redemption", claims: ["productId", "offerCode", "transactionId"]),
            readme: "Sources/OfferCodeRedemption/README.md"
        ).run(check)
    }
}
