import AdvancedCommerce
import Crypto
import Encodings
import IntroductoryOfferEligibility
import LegacyPromotionalOffer
import PromotionalOffer
import SignatureExplanation
import SigningKit

/// The parts of a token. It composes the token itself, independent of the code under test.
struct TokenFixture: Sendable {
    static let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
    static let base = [
        "\"iss\":\"57246542-96fe-1a63-e053-0824d011072a\"", "\"iat\":1698148900", "\"aud\":\"promotional-offer\"",
        "\"bid\":\"com.example.app\"", "\"nonce\":\"\(nonce)\"",
    ]
    static let offer = ["\"productId\":\"premium\"", "\"offerIdentifier\":\"winter50\"", "\"transactionId\":\"42\""]
    static let eligibility = [
        "\"productId\":\"premium\"", "\"allowIntroductoryOffer\":true", "\"transactionId\":\"42\"",
    ]
    static let request = #"{"operation":"REACTIVATE_SUBSCRIPTION","version":"1","requestInfo":{}}"#

    var header = #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#
    var claims = "{\((base + offer).joined(separator: ","))}"

    static func audience(_ name: String, _ own: [String]) -> TokenFixture {
        TokenFixture(claims: "{\((base + own).joined(separator: ","))}").replacing("promotional-offer", name)
    }

    /// The token of the Advanced Commerce API with `value` as the JSON of its claim `request`.
    static func request(_ value: String) -> TokenFixture {
        audience("advanced-commerce-api", ["\"request\":\(value)"])
    }

    static func encodedRequest(_ text: String = request) -> TokenFixture {
        request("\"\(LegacyFixture.base64(Array(text.utf8)))\"")
    }

    func replacing(_ text: String, _ other: String) -> TokenFixture {
        TokenFixture(header: header, claims: claims.replacing(text, with: other))
    }

    func withHeader(_ header: String) -> TokenFixture { TokenFixture(header: header, claims: claims) }

    static func part(_ text: String) -> String { String(decoding: Base64.url.encode(Array(text.utf8)), as: UTF8.self) }

    static func part(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64.url.encode(bytes), as: UTF8.self)
    }

    var signingInput: String { Self.part(header) + "." + Self.part(claims) }

    /// The token with a signature over `bytes`, by default over its signing input.
    func token(
        signing bytes: [UInt8]? = nil, key: P256.Signing.PrivateKey = LegacyFixture.key,
        write: (P256.Signing.ECDSASignature) -> String = { part(Array($0.rawRepresentation)) }
    ) throws -> String {
        let signature = try key.signature(for: bytes ?? Array(signingInput.utf8))
        return signingInput + "." + write(signature)
    }

    static let features = [
        LegacyPromotionalOffer.descriptor, PromotionalOffer.descriptor, IntroductoryOfferEligibility.descriptor,
        AdvancedCommerce.descriptor,
    ]

    static func examine(
        _ token: String, app: String? = nil, keys: [CandidateKey] = LegacyFixture.keys, isSearching: Bool = true
    ) -> Explanation {
        SignatureExaminer(keys: keys, features: features, now: LegacyFixture.now)
            .examine(token: Array(token.utf8), app: app, isSearching: isSearching)
    }
}
