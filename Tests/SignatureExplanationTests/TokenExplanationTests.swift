import Crypto
import SignatureExplanation
import Testing

@Suite("Explanation of a JWS")
struct TokenExplanationTests {
    @Test(
        "a token that Apple accepts is valid, for each audience",
        arguments: [
            (TokenFixture(), "promotional-offer"),
            (TokenFixture().replacing(",\"transactionId\":\"42\"", ""), "promotional-offer"),
            (.audience("introductory-offer-eligibility", TokenFixture.eligibility), "introductory-offer-eligibility"),
            (.encodedRequest(), "advanced-commerce-api"),
            // The order of members has no meaning.
            (TokenFixture().withHeader(#"{ "typ": "JWT", "kid": "2X9R4HXF34", "alg": "ES256" }"#), "promotional-offer"),
        ])
    func valid(_ fixture: TokenFixture, _ audience: String) throws {
        let explanation = TokenFixture.examine(try fixture.token(), app: "com.example.app")
        #expect(explanation.isValid)
        #expect(explanation.findings.isEmpty)
        #expect(explanation.kind == audience)
        #expect(explanation.key?.label == "first.pem")
        #expect(explanation.verifications == 1)
    }

    @Test("each known mistake is the first finding", arguments: TokenMistakes.all)
    func mistake(_ mistake: TokenMistake) throws {
        let explanation = TokenFixture.examine(try mistake.make())
        #expect(explanation.findings.contains { $0.code == mistake.code })
        #expect(explanation.findings.first { $0.code != .keyOther || mistake.code == .keyOther }?.code == mistake.code)
        #expect(!explanation.isValid)
    }

    @Test("the table has at least forty kinds of mistake")
    func breadth() {
        #expect(Set(TokenMistakes.all.map(\.code)).count >= 40)
    }

    @Test("mistakes of signature, encoding and content are found together")
    func several() throws {
        let fixture = TokenFixture().replacing("{", "{\"exp\":1698149200,").replacing("\"42\"", "42")
        let input = Array(TokenFixture.part(fixture.claims).utf8)
        let token = try fixture.token(signing: input, key: LegacyFixture.otherKey) {
            TokenFixture.part(Array($0.derRepresentation))
        }
        let codes = TokenFixture.examine(token).findings.map(\.code)
        #expect(codes == [.signedPayloadOnly, .signatureDER, .keyOther, .claimExp, .transactionIDNumber])
    }

    @Test("a token for another app than the expected one is not valid")
    func otherApp() throws {
        let explanation = TokenFixture.examine(try TokenFixture().token(), app: "com.example.other")
        #expect(explanation.findings.map(\.code) == [.appDiffers])
        #expect(!explanation.isValid)
    }

    @Test("a token for the decomposed form of the expected bundle ID is not valid")
    func otherUnicodeForm() throws {
        let fixture = TokenFixture().replacing("com.example.app", "com.example.cafe\u{301}")
        let explanation = TokenFixture.examine(try fixture.token(), app: "com.example.caf\u{E9}")
        #expect(explanation.findings.map(\.code) == [.appDiffers])
    }

    @Test("a token signed by an unknown key stays unexplained")
    func unexplained() throws {
        let token = try TokenFixture().token(key: P256.Signing.PrivateKey())
        let explanation = TokenFixture.examine(token)
        #expect(explanation.outcome == .unexplained)
        #expect(explanation.findings.map(\.code) == [.unexplained])
        #expect(explanation.report.contains("None of the known mistakes"))
    }

    @Test("the message for an unknown key ID lists the given ones")
    func unknownKeyID() throws {
        let fixture = TokenFixture().withHeader(#"{"alg":"ES256","kid":"AAAAAAAAAA","typ":"JWT"}"#)
        let token = try fixture.token(key: P256.Signing.PrivateKey())
        let message = TokenFixture.examine(token).findings.last?.message
        #expect(message?.contains("No key with the ID AAAAAAAAAA was given, only 2X9R4HXF34, 7QK3M5LZ90.") == true)
    }

    @Test("a token issued days ago is valid with a warning")
    func old() throws {
        let explanation = TokenFixture.examine(try TokenFixture().replacing("1698148900", "1697900000").token())
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.issuedLongAgo])
    }

    @Test("a token from the future is valid with a warning about the clock")
    func future() throws {
        let explanation = TokenFixture.examine(try TokenFixture().replacing("1698148900", "1698149900").token())
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.issuedInFuture])
    }

    @Test("a token of Apple's Swift library is valid with warnings that name their source")
    func appleSwift() throws {
        let fixture = TokenFixture().replacing(TokenFixture.nonce, TokenFixture.nonce.uppercased())
            .replacing("1698148900", "1698148900.4213529")
        let explanation = TokenFixture.examine(try fixture.token())
        #expect(explanation.isValid)
        #expect(Set(explanation.findings.map(\.code)) == [.nonceUpperCase, .iatFraction])
        #expect(explanation.findings.allSatisfy { $0.severity == .warning })
        #expect(
            explanation.findings.allSatisfy { $0.message.contains("Apple's Swift library (JWSSignatureCreator.swift)") }
        )
    }

    @Test(
        "signed white space is a warning with the claim's name",
        arguments: [
            (TokenFixture().replacing("premium", "premium\u{A0}"), "productId"),
            (TokenFixture().replacing("winter50", " winter50"), "offerIdentifier"),
            (TokenFixture().replacing("\"42\"", "\"4\u{2003}2\""), "transactionId"),
            (TokenFixture().replacing("com.example.app", "\u{3000}com.example.app"), "bid"),
            (
                TokenFixture.encodedRequest(TokenFixture.request.replacing("{}", with: #"{"a":[{"SKU":"s "}]}"#)),
                "request.requestInfo.a[0].SKU"
            ),
        ])
    func whiteSpace(_ fixture: TokenFixture, _ field: String) throws {
        let explanation = TokenFixture.examine(try fixture.token())
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.fieldWhiteSpace])
        #expect(explanation.findings.map(\.severity) == [.warning])
        #expect(explanation.findings.map(\.field) == [field])
    }

    @Test("a malformed issuer ID and an unusual key ID are warnings")
    func unusual() throws {
        let fixture = TokenFixture().replacing("57246542-96fe-1a63-e053-0824d011072a", "TEAM123456")
            .withHeader(#"{"alg":"ES256","kid":"keyId","typ":"JWT"}"#)
        let key = CandidateKey(keyID: "keyId", label: "k", publicKey: LegacyFixture.key.publicKey)
        let explanation = TokenFixture.examine(try fixture.token(), keys: [key])
        #expect(explanation.isValid)
        #expect(explanation.findings.map(\.code) == [.issuerNotUUID, .keyIDShape])
    }

    @Test("texts that are not tokens are reported as errors", arguments: ["", ".", "..", "hello", "a.b.c", "e30.e30"])
    func noToken(_ text: String) {
        let explanation = TokenFixture.examine(text)
        #expect(!explanation.isValid)
        #expect(explanation.findings.contains { $0.severity == .error })
    }
}
