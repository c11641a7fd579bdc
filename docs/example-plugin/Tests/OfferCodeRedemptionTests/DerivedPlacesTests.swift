import Crypto
import Foundation
import GatewayConfiguration
import GatewayHTTP
import HTTPTypes
import JWS
import OfferCodeRedemption
import SignatureExplanation
import Signing
import SigningKit
import SigningKitTesting
import StrictJSON
import Testing

/// What a gateway shows of a feature, from the line in `ExampleBuiltIns` and the feature's descriptor alone.
@Suite("A feature of another package", .timeLimit(.minutes(1)))
struct DerivedPlacesTests {
    private let descriptors = ExampleBuiltIns.features.map(\.descriptor)
    private let key = P256.Signing.PrivateKey()

    @Test("is served over HTTP, and verify accepts its token")
    func http() async throws {
        let place = FakeBackendLocation(UUID().uuidString)
        let settings = KeySettings(keyID: "2X9R4HXF34", uri: try KeyURI(place.add("key")))
        let app = AppSettings(bundleID: "com.example.app", features: [OfferCodeRedemption.descriptor.id])
        let account = AccountSettings(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a", apps: [app], keys: [settings], activeKeyID: "2X9R4HXF34")
        let gateway = SnapshotHolder(
            ConfigurationSnapshot(
                GatewaySettings(accounts: [account], allowsAnonymous: true), features: ExampleBuiltIns.features,
                backends: [FakeKeyBackend.self], secrets: FileSecretSource(credentialsDirectory: nil)))
        await gateway.current.ring.openMissing()
        let router = GatewayRouter(
            gateway: gateway, monitor: KeyRingMonitor(gateway), drain: Drain(delay: .zero),
            registry: ConnectionRegistry(GatewayConfiguration.Limits()))
        let documented = try await router.public.answer(
            to: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/openapi.yaml"))
        #expect(
            String(decoding: documented.body, as: UTF8.self)
                .contains("/v1/apps/{bundleId}/offer-code-redemption/batch:"))
        let answer = try await router.public.answer(
            to: HTTPRequest(
                method: .post, scheme: nil, authority: nil, path: "/v1/apps/com.example.app/offer-code-redemption",
                headerFields: [.contentType: "application/json"]),
            body: Array(#"{"productId":"p","offerCode":"SPRING"}"#.utf8))
        #expect(answer.head.status == .ok)
        let token = try JSONDocument(parsing: answer.body).root.anyObject().required("jws") {
            value throws(JSONReadError) in try value.string()
        }
        let publicKey = try #require(gateway.current.ring.handles.first?.publicKey)
        let explanation = explain(token, publicKey)
        #expect(explanation.isValid, "\(explanation.report)")
        #expect(explanation.verdict.hasPrefix("valid: offer-code-redemption"))
        await gateway.current.ring.close()
    }

    @Test("is explained when its token has a wrong claim")
    func wrongClaim() throws {
        let misspelled = try explain(token(#""aud":"offer-code-redemption","productId":"p","code":"SPRING""#))
        #expect(misspelled.kind == "offer-code-redemption")
        #expect(misspelled.findings.map(\.code) == [.claimMisspelled])
        #expect(misspelled.findings.first?.message.contains("offerCode") == true)
        let kind = try explain(token(#""aud":"offer-code-redemption","productId":"p","offerCode":7"#))
        #expect(kind.findings.map(\.code) == [.claimKind])
    }

    @Test("is named among the audiences when a token has another one")
    func wrongAudience() throws {
        let other = try explain(token(#""aud":"promotional-offer","productId":"p","offerCode":"SPRING""#))
        #expect(other.findings.map(\.code) == [.audienceWrong])
        let unknown = try explain(token(#""aud":"offers","productId":"p","offerCode":"SPRING""#))
        #expect(unknown.findings.map(\.code) == [.audienceUnknown])
        #expect(unknown.findings.first?.cure.contains("offer-code-redemption") == true)
    }

    @Test("is in the OpenAPI document with its members, and the built-in features remain")
    func openAPI() throws {
        let document = try JSONDocument(parsing: OpenAPIDocument(features: descriptors).json()).root.anyObject()
        let schemas = try #require(try document["components"]?.anyObject()["schemas"]).anyObject()
        let request = try #require(schemas["OfferCodeRedemptionRequest"]).anyObject()
        #expect(try request["properties"]?.anyObject().names == ["productId", "offerCode", "transactionId"])
        let paths = try #require(document["paths"]).anyObject().names
        for descriptor in descriptors {
            #expect(paths.contains("/v1/apps/{bundleId}/\(descriptor.id)"))
            #expect(paths.contains("/v1/apps/{bundleId}/\(descriptor.id)/batch"))
        }
    }

    @Test("is in the help of the commands sign and verify")
    func help() {
        #expect(
            descriptors.helpText.hasSuffix(
                "  offer-code-redemption\n    productId\n    offerCode\n    transactionId (optional)"))
        #expect(descriptors.audiences.contains("offer-code-redemption"))
    }

    /// A token with a valid signature.
    private func token(_ claims: String) throws -> String {
        let payload = """
            {"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1698148900,"bid":"com.example.app",\
            "nonce":"20fba8a0-2b80-4a7d-a17f-85c1854727f8",\(claims)}
            """
        let header = #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#
        let input = CompactJWS.signingInput(header: Array(header.utf8), payload: Array(payload.utf8))
        let signature = Array(try key.signature(for: input).rawRepresentation)
        return String(decoding: CompactJWS.serialized(input, signature: signature.span), as: UTF8.self)
    }

    private func explain(_ token: String, _ publicKey: P256.Signing.PublicKey? = nil) -> Explanation {
        let candidate = CandidateKey(keyID: "2X9R4HXF34", label: "key", publicKey: publicKey ?? key.publicKey)
        let examiner = SignatureExaminer(
            keys: [candidate], features: descriptors, now: Timestamp(milliseconds: 1_698_148_901_000))
        return examiner.examine(token: Array(token.utf8), isSearching: true)
    }
}
