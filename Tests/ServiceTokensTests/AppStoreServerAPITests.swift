import Encodings
import Foundation
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@testable import ServiceTokens

@Suite("Tokens for the App Store Server API")
struct AppStoreServerAPITests {
    @Test("AppStoreServerAPI meets the feature contract", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            AppStoreServerAPI(),
            vectors: GoldenVector.all(in: .module),
            refusals: Self.refusals,
            form: Self.form,
            readme: "Plugins/Features/ServiceTokens/README.md"
        ).run(check)
    }

    /// A caller chooses nothing.
    private static let refusals: [FeatureRefusal] = [
        FeatureRefusal("", .body(.empty)),
        FeatureRefusal("null", .wrongKind("", expected: .object, found: .null)),
        FeatureRefusal(#"{"lifetime":3600}"#, .unknown("lifetime")),
        FeatureRefusal(#"{"sub":"user"}"#, .unknown("sub")),
        FeatureRefusal(#"{"scope":["GET /v1/apps"]}"#, .unknown("scope")),
        FeatureRefusal(#"{"productId":"p"}"#, .unknown("productId")),
    ]

    private static let form = SignedForm { signingInput, grant in
        let parts = signingInput.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let claims = Base64.url.decode(parts[1]) else { return "it has not two parts" }
        let now = grant.issuedAt.seconds
        let expected =
            #"{"iss":"\#(grant.app.issuerID)","iat":\#(now - 60),"exp":\#(now + 300),"#
            + #""aud":"appstoreconnect-v1","bid":"\#(grant.app.bundleID)"}"#
        let found = String(decoding: claims, as: UTF8.self)
        return found == expected ? nil : "the claims are \(found)"
    }

    @Test("a lifetime above Apple's limit is shortened to it, with the minute before the request")
    func limit() {
        let lifetime = ServiceLifetime(standard: 86_400, limit: 3600)
        let times = lifetime.times(at: Timestamp(milliseconds: 1_741_043_663_999))
        #expect(times == ServiceTokenTimes(issuedAt: 1_741_043_603, expiresAt: 1_741_047_203))
        #expect(times.expiresAt - times.issuedAt == 3600)
    }
}
