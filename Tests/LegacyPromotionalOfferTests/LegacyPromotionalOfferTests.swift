import Foundation
import LegacyPromotionalOffer
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Legacy promotional offers")
struct LegacyPromotionalOfferTests {
    @Test("LegacyPromotionalOffer meets the feature contract", arguments: FeatureCheck.allCases)
    func conformance(_ check: FeatureCheck) throws {
        try FeatureConformance(
            LegacyPromotionalOffer(),
            vectors: GoldenVector.all(in: .module),
            refusals: Self.refusals,
            form: .legacy,
            readme: "Plugins/Features/LegacyPromotionalOffer/README.md"
        ).run(check)
    }

    @Test(
        "The signed text has seven fields for any user",
        arguments: ["", #","appAccountToken":"\#(token)""#, #","appAccountToken":"""#, name])
    func sevenFields(_ user: String) throws {
        #expect(try fields(#"{"productId":"p","offerIdentifier":"o"\#(user)}"#).count == 7)
    }

    @Test("LegacyPromotionalOffer lower-cases the account token and nothing else")
    func lowerCase() throws {
        let signed = try fields(
            #"{"productId":"P","offerIdentifier":"O","appAccountToken":"\#(Self.token.uppercased())"}"#)
        #expect(
            signed == ["com.Example.App", "2X9R4HXF34", "P", "O", Self.token, grant.nonce.description, "1741043663987"])
    }

    @Test("LegacyPromotionalOffer signs a user name unchanged: case, spaces, joiners and accents")
    func verbatimUserName() throws {
        let name = "Jane\u{200D}DOE e\u{301} \u{200F}"
        #expect(try fields(#"{"productId":"p","offerIdentifier":"o","applicationUsername":"\#(name)"}"#)[4] == name)
        // Swift's == treats canonically equivalent strings as equal, so the test compares bytes.
        let draft = try feature.draft(
            from: Array(#"{"productId":"p","offerIdentifier":"o","applicationUsername":"e\#u{301}"}"#.utf8), for: grant)
        #expect(draft.signingInput.contains(subsequence: [0x65, 0xCC, 0x81]))
    }

    @Test(
        "An empty appAccountToken means none, as Apple documents",
        arguments: [("", ""), (#","applicationUsername":"""#, ""), (#","applicationUsername":"Jane""#, "Jane")])
    func emptyAccountToken(_ other: String, _ user: String) throws {
        #expect(try fields(#"{"productId":"p","offerIdentifier":"o","appAccountToken":""\#(other)}"#)[4] == user)
    }

    @Test("The answer has a DER signature in padded Base64 and a numeric timestamp in milliseconds")
    func answer() throws {
        let draft = try feature.draft(from: Array(#"{"productId":"p","offerIdentifier":"o"}"#.utf8), for: grant)
        let signature = try #require(P256Signature(rawRepresentation: Array(repeating: 0xFF, count: 64)))
        let answer = try JSONDocument(parsing: draft.makeAnswer(signature).jsonBytes()).root.anyObject()
        #expect(answer.names == ["keyIdentifier", "nonce", "timestamp", "signature"])
        #expect(try answer["timestamp"]?.integer() == 1_741_043_663_987)
        let text = try #require(answer["signature"]).string()
        let der = try #require(Data(base64Encoded: text))
        #expect(P256Signature(derRepresentation: der) == signature)
        #expect(text.utf8.count.isMultiple(of: 4))
    }

    // MARK: Fixtures

    private static let token = "7e3fb204-2f2b-4a05-9a9f-2f5e5c9e5a43"
    private static let name = #","applicationUsername":"Jane""#

    private let feature = LegacyPromotionalOffer()
    private let grant = Grant(
        app: AppIdentity(bundleID: "com.Example.App", issuerID: "issuer", keyID: "2X9R4HXF34"),
        issuedAt: Timestamp(milliseconds: 1_741_043_663_987),
        nonce: Nonce(random: 1, 2)
    )

    private func fields(_ body: String) throws -> [String] {
        let draft = try feature.draft(from: Array(body.utf8), for: grant)
        return String(decoding: draft.signingInput, as: UTF8.self)
            .split(separator: "\u{2063}", omittingEmptySubsequences: false).map(String.init)
    }

    private static let refusals: [FeatureRefusal] = [
        FeatureRefusal("", .body(.empty)),
        FeatureRefusal(#"{"productId":"p","offerIdent"#, .body(.truncated)),
        FeatureRefusal(#"{"productId":"p","product\u0049d":"q"}"#, .body(.duplicateMember("productId"))),
        FeatureRefusal("[]", .wrongKind("", expected: .object, found: .array)),
        FeatureRefusal("{}", .missing("productId")),
        FeatureRefusal(#"{"productId":"p"}"#, .missing("offerIdentifier")),
        FeatureRefusal(#"{"productID":"p","offerIdentifier":"o"}"#, .unknown("productID")),
        FeatureRefusal(
            #"{"productId":null,"offerIdentifier":"o"}"#, .wrongKind("productId", expected: .string, found: .null)),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":7}"#, .wrongKind("offerIdentifier", expected: .string, found: .number)),
        FeatureRefusal(#"{"productId":"","offerIdentifier":"o"}"#, .invalid("productId", saying: "empty")),
        FeatureRefusal(#"{"productId":"a\u200bb","offerIdentifier":"o"}"#, .invalid("productId", saying: "U+200B")),
        FeatureRefusal(
            #"{"productId":"p","productIdentifier":"p","offerIdentifier":"o"}"#,
            .invalid("productIdentifier", saying: "only one of them")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","appAccountToken":" "}"#,
            .invalid("appAccountToken", saying: "UUID")),
        FeatureRefusal(#"{"productId":" p","offerIdentifier":"o"}"#, .invalid("productId", saying: "U+0020")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o\u3000"}"#, .invalid("offerIdentifier", saying: "U+3000")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","applicationUsername":"Jane "}"#,
            .invalid("applicationUsername", saying: "ends with white space")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","appAccountToken":"undefined"}"#,
            .invalid("appAccountToken", saying: "UUID")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","appAccountToken":"\#(token)","applicationUsername":"Jane"}"#,
            .invalid("applicationUsername", saying: "appAccountToken")),
        FeatureRefusal(
            #"{"productId":"p","offerIdentifier":"o","applicationUsername":"\#(String(repeating: "é", count: 128))"}"#,
            .invalid("applicationUsername", saying: "256 bytes")),
    ]
}

extension [UInt8] {
    fileprivate func contains(subsequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: subsequence) }
    }
}
