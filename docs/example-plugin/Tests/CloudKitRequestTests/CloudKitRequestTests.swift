import CloudKitRequest
import Foundation
import SigningKit
import SigningKitTesting
import Testing

@Suite("The signature of a CloudKit request")
struct CloudKitRequestTests {
    @Test("keeps the contract of a feature", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            CloudKitRequest(),
            vectors: GoldenVector.all(in: .module),
            refusals: [
                FeatureRefusal("{}", .missing("subpath")),
                FeatureRefusal(#"{"subPath":"/database/1/c"}"#, .unknown("subPath")),
                FeatureRefusal(#"{"subpath":"https://example.com/"}"#, .invalid("subpath", saying: "/database/1/")),
                FeatureRefusal(#"{"subpath":"/database/1/c?a=b"}"#, .invalid("subpath", saying: "/database/1/")),
                FeatureRefusal(#"{"subpath":"/database/1/c","body":"e30"}"#, .invalid("body", saying: "Base64")),
                FeatureRefusal(
                    #"{"subpath":"/database/1/c","body":null}"#, .wrongKind("body", expected: .string, found: .null)),
            ],
            form: Self.form,
            readme: "README.md"
        ).run(check)
    }

    /// What holds of everything that the feature wants signed: the gateway's date, a hash, a path.
    private static let form = SignedForm { signingInput, _ in
        let text = String(decoding: signingInput, as: UTF8.self)
        return text.wholeMatch(of: /2025-03-03T23:14:23Z:[A-Za-z0-9+\/]{43}=:\/database\/1\/.*/) == nil
            ? "it is \(text)" : nil
    }
}
