import Foundation
import IntroductoryOfferEligibility
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Introductory offer eligibility")
struct IntroductoryOfferEligibilityTests {
    @Test("IntroductoryOfferEligibility meets the feature contract", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            IntroductoryOfferEligibility(),
            vectors: GoldenVector.all(in: .module),
            refusals: Self.refusals,
            form: .jws(
                audience: "introductory-offer-eligibility",
                claims: ["productId", "allowIntroductoryOffer", "transactionId"]),
            readme: "Plugins/Features/IntroductoryOfferEligibility/README.md"
        ).run(check)
    }

    private static let refusals: [FeatureRefusal] = [
        FeatureRefusal("", .body(.empty)),
        FeatureRefusal(#"{"productId":"p","allowIntroductoryOffer":tru"#, .body(.truncated)),
        FeatureRefusal("null", .wrongKind("", expected: .object, found: .null)),
        FeatureRefusal(#"{"allowIntroductoryOffer":true,"transactionId":"1"}"#, .missing("productId")),
        FeatureRefusal(#"{"productId":"p","transactionId":"1"}"#, .missing("allowIntroductoryOffer")),
        FeatureRefusal(#"{"productId":"p","allowIntroductoryOffer":true}"#, .missing("transactionId")),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffer":true,"transactionId":"\u30001"}"#,
            .invalid("transactionId", saying: "U+3000")),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffers":true,"transactionId":"1"}"#,
            .unknown("allowIntroductoryOffers")),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffer":"true","transactionId":"1"}"#,
            .wrongKind("allowIntroductoryOffer", expected: .boolean, found: .string)),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffer":1,"transactionId":"1"}"#,
            .wrongKind("allowIntroductoryOffer", expected: .boolean, found: .number)),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffer":true,"transactionId":null}"#,
            .wrongKind("transactionId", expected: .string, found: .null)),
        FeatureRefusal(
            #"{"productId":"p","allowIntroductoryOffer":true,"transactionId":"1\u200d"}"#,
            .invalid("transactionId", saying: "U+200D")),
    ]
}
