import AdvancedCommerce
import Encodings
import Foundation
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

@Suite("Advanced Commerce API in-app requests")
struct AdvancedCommerceTests {
    @Test(
        "AdvancedCommerce meets the feature contract",
        arguments: FeatureCheck.allCases, AdvancedCommerce.Validation.allCases)
    func conformance(_ check: FeatureCheck, _ validation: AdvancedCommerce.Validation) throws {
        try FeatureConformance(
            AdvancedCommerce(validation: validation),
            vectors: GoldenVector.all(in: .module),
            refusals: EnvelopeRefusals.all + (validation == .full ? FullRefusals.all : []),
            form: .jws(audience: "advanced-commerce-api", claims: ["request"]),
            readme: "Plugins/Features/AdvancedCommerce/README.md"
        ).run(check)
    }

    @Test("AdvancedCommerce validates in full by default")
    func defaultValidation() {
        #expect(AdvancedCommerce().validation == .full)
    }

    @Test("AdvancedCommerce signs the request bytes unchanged: spaces, order and escapes")
    func bytesAsTheyCame() throws {
        let request = SampleRequest.oneTimeCharge.replacing(#""USD""#, with: " \n \"\\u0055SD\"  ")
        #expect(try claim(of: #"{  "request"  :  \#(request)  }"#) == request)
        #expect(try claim(of: #"{"requestData":"\#(SampleRequest.base64(request))"}"#) == request)
    }

    @Test("AdvancedCommerce accepts the requests that Apple documents", arguments: SampleRequest.accepted)
    func accepted(_ request: String) throws {
        #expect(try claim(of: #"{"request":\#(request)}"#) == request)
    }

    @Test(
        "AdvancedCommerce accepts null for optional members and signs the bytes unchanged",
        arguments: SampleRequest.withNulls)
    func nullOptionalMembers(_ request: String) throws {
        #expect(try claim(of: #"{"request":\#(request)}"#) == request)
        #expect(try claim(of: #"{"requestData":"\#(SampleRequest.base64(request))"}"#) == request)
    }

    @Test("Envelope validation accepts members that full validation refuses")
    func envelopeOnly() throws {
        let request =
            #"{"operation":"PAUSE_SUBSCRIPTION","version":"2","requestInfo":{"x":null},"price":1.5,"items":[]}"#
        #expect(throws: FeatureError.self) { try claim(of: #"{"request":\#(request)}"#) }
        #expect(try claim(of: #"{"request":\#(request)}"#, .envelope) == request)
    }

    @Test("The answer also holds the token in advancedCommerceData for StoreKit")
    func advancedCommerceData() throws {
        let body = Array(#"{"request":\#(SampleRequest.oneTimeCharge)}"#.utf8)
        let draft = try AdvancedCommerce().draft(from: body, for: grant)
        let signature = try #require(P256Signature(rawRepresentation: Array(repeating: 7, count: 64)))
        let answer = try JSONDocument(parsing: draft.makeAnswer(signature).jsonBytes()).root.anyObject()
        #expect(answer.names == ["jws", "keyId", "nonce", "issuedAt", "advancedCommerceData"])
        let jws = try #require(answer["jws"]).string()
        let data = try #require(Data(base64Encoded: answer["advancedCommerceData"]?.string() ?? ""))
        #expect(String(decoding: data, as: UTF8.self) == #"{"signatureInfo":{"token":"\#(jws)"}}"#)
    }

    private let grant = Grant(
        app: AppIdentity(bundleID: "com.example.app", issuerID: "issuer", keyID: "2X9R4HXF34"),
        issuedAt: Timestamp(milliseconds: 1_741_043_663_987),
        nonce: Nonce(random: 1, 2)
    )

    private func claim(of body: String, _ validation: AdvancedCommerce.Validation = .full) throws -> String {
        let draft = try AdvancedCommerce(validation: validation).draft(from: Array(body.utf8), for: grant)
        let payload = try #require(draft.signingInput.split(separator: UInt8(ascii: ".")).last)
        let claims = try #require(Base64.url.decode(payload))
        let text = try #require(JSONDocument(parsing: claims).root.anyObject()["request"]).string()
        let request = try #require(Base64.standard.decode(text.utf8))
        return String(decoding: request, as: UTF8.self)
    }
}
