import AppStoreJWS
import JWS
import SigningKit
import StrictJSON
import Testing

@Suite("App Store JWS")
struct AppStoreJWSTests {
    @Test("The header has exactly alg, kid and typ", arguments: Self.audiences)
    func header(_ audience: String) throws {
        #expect(try text(parts(audience).header) == #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#)
    }

    @Test("The payload has only the base claims when the feature adds none", arguments: Self.audiences)
    func baseClaims(_ audience: String) throws {
        #expect(
            try text(parts(audience).payload) == """
                {"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1741043663,"aud":"\(audience)",\
                "bid":"com.example.app","nonce":"\(nonce)"}
                """)
    }

    @Test("iat is a JSON integer of whole seconds, rounded down")
    func issuedAt() throws {
        for milliseconds in [1_741_043_663_000, 1_741_043_663_001, 1_741_043_663_999] as [Int64] {
            let payload = try parts("promotional-offer", at: milliseconds).payload
            #expect(try JSONDocument(parsing: payload).root.anyObject()["iat"]?.integer() == 1_741_043_663)
        }
    }

    @Test("The nonce is in lower case")
    func lowerCaseNonce() throws {
        let claims = try JSONDocument(parsing: parts("advanced-commerce-api").payload).root.anyObject()
        let text = try #require(claims["nonce"]).string()
        #expect(text == text.lowercased())
        #expect(text.contains { ("a"..."f").contains($0) })
    }

    @Test("The claims of the feature follow the base claims")
    func featureClaims() throws {
        let payload = try parts("promotional-offer", claims: { $0.member("productId", #"a"b"#) }).payload
        #expect(text(payload).hasSuffix(#","productId":"a\"b"}"#))
    }

    @Test("The JWS holds the signature as raw r ‖ s")
    func signature() throws {
        let signature = try #require(P256Signature(rawRepresentation: (0..<64).map { UInt8($0) }))
        let input = AppStoreJWS.signingInput("promotional-offer", for: grant(at: 0)) { _ in }
        let answer = try JSONDocument(parsing: JWSAnswer(input, signature, grant(at: 5_999)).jsonBytes()).root
            .anyObject()
        #expect(answer.names == ["jws", "keyId", "nonce", "issuedAt"])
        #expect(answer.names == JWSAnswer.fields.map(\.name))
        #expect(try answer["issuedAt"]?.integer() == 5)
        let jws = try CompactJWS(parsing: #require(answer["jws"]).string().utf8)
        #expect(jws.signature == signature.bytes)
        #expect(jws.signingInput == input)
    }

    private static let audiences = ["promotional-offer", "introductory-offer-eligibility", "advanced-commerce-api"]

    private let nonce = Nonce(random: 0xABCD_EF01_2345_6789, 0xFEDC_BA98_7654_3210)

    private func grant(at milliseconds: Int64) -> Grant {
        let app = AppIdentity(
            bundleID: "com.example.app", issuerID: "57246542-96fe-1a63-e053-0824d011072a", keyID: "2X9R4HXF34")
        return Grant(app: app, issuedAt: Timestamp(milliseconds: milliseconds), nonce: nonce)
    }

    private func parts(
        _ audience: String, at milliseconds: Int64 = 1_741_043_663_987,
        claims: (inout JSONWriter) -> Void = { _ in }
    ) throws -> CompactJWS {
        let input = AppStoreJWS.signingInput(audience, for: grant(at: milliseconds), claims: claims)
        return try CompactJWS(parsing: CompactJWS.serialized(input, signature: [UInt8]().span))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
