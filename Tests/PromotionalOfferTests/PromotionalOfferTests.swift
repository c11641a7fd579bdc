import Foundation
import PromotionalOffer
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Promotional offers")
struct PromotionalOfferTests {
    @Test("PromotionalOffer meets the feature contract", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            PromotionalOffer(),
            vectors: GoldenVector.all(in: .module),
            refusals: Self.refusals,
            form: .jws(audience: "promotional-offer", claims: ["productId", "offerIdentifier", "transactionId"]),
            readme: "Plugins/Features/PromotionalOffer/README.md"
        ).run(check)
    }

    private static let refusals: [FeatureRefusal] = [
        FeatureRefusal(" \n", .body(.empty)),
        FeatureRefusal(#"{"productId":"p"} {}"#, .body(.trailing)),
        FeatureRefusal(#""p""#, .wrongKind("", expected: .object, found: .string)),
        FeatureRefusal("{}", .missing("productId")),
        FeatureRefusal(#"{"productId":"p"}"#, .missing("offerIdentifier")),
        FeatureRefusal(#"{"productId":"p","offerId":"o"}"#, .unknown("offerId")),
        FeatureRefusal(#"{"productId":"p\u00a0","offerIdentifier":"o"}"#, .invalid("productId", saying: "U+00A0")),
        FeatureRefusal(#"{"productId":"p","offerIdentifier":" "}"#, .invalid("offerIdentifier", saying: "white space")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","transactionId":"1\u20032"}"#,
            .invalid("transactionId", saying: "U+2003")),
        FeatureRefusal(#"{"productId":"p","offerIdentifier":"o","TransactionId":"1"}"#, .unknown("TransactionId")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","transactionId":null}"#,
            .wrongKind("transactionId", expected: .string, found: .null)),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","transactionId":70000123456789}"#,
            .wrongKind("transactionId", expected: .string, found: .number)),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","transactionId":""}"#, .invalid("transactionId", saying: "empty")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"\#(String(repeating: "o", count: 256))"}"#,
            .invalid("offerIdentifier", saying: "256 bytes")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o\u2063p"}"#, .invalid("offerIdentifier", saying: "U+2063")),
    ]
}
