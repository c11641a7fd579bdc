import ServiceTokens
import SignatureExplanation
import SigningKit
import Testing

/// Tokens for services as Apple documents them.
enum ServiceTokenFixture {
    private static let plain = #"{"alg":"ES256","kid":"2X9R4HXF34"}"#
    private static let times = #""iat":1698148900,"exp":1698149260"#
    private static let connect =
        #"{"iss":"57246542-96fe-1a63-e053-0824d011072a",\#(times),"aud":"appstoreconnect-v1"}"#
    private static let business =
        #"{"iss":"BUSINESSAPI.1","sub":"BUSINESSAPI.1",\#(times),"#
        + #""aud":"https://account.apple.com/auth/oauth2/v2/token","jti":"20fba8a0-2b80-4a7d-a17f-85c1854727f8"}"#

    /// By profile.
    static let whole: [String: TokenFixture] = [
        "app-store-server-api": TokenFixture(claims: connect.replacing("}", with: #","bid":"com.example.app"}"#)),
        "app-store-connect-team": TokenFixture(claims: connect),
        "app-store-connect-individual": TokenFixture(
            claims: connect.replacing(#""iss":"57246542-96fe-1a63-e053-0824d011072a""#, with: #""sub":"user""#)),
        "enterprise-program": TokenFixture(
            claims: connect.replacing("appstoreconnect-v1", with: "apple-developer-enterprise-v1")),
        "apns": TokenFixture(header: plain, claims: #"{"iss":"ABCDE12345","iat":1698148900}"#),
        "devicecheck": TokenFixture(header: plain, claims: #"{"iss":"ABCDE12345","iat":1698148900}"#),
        "sign-in-with-apple": TokenFixture(
            header: plain,
            claims: #"{"iss":"ABCDE12345",\#(times),"aud":"https://appleid.apple.com","sub":"com.example.web"}"#),
        "weatherkit": TokenFixture(
            header: #"{"alg":"ES256","kid":"2X9R4HXF34","id":"ABCDE12345.com.example.weather"}"#,
            claims: #"{"iss":"ABCDE12345",\#(times),"sub":"com.example.weather"}"#),
        "apple-music": TokenFixture(
            header: plain, claims: #"{"iss":"ABCDE12345",\#(times),"origin":["https://www.example.com"]}"#),
        "apple-tv-feed": TokenFixture(header: plain, claims: #"{"iss":"a portal's ID",\#(times)}"#),
        "maps-server": TokenFixture(claims: #"{"iss":"ABCDE12345",\#(times),"scope":"server_api"}"#),
        "mapkit-js": TokenFixture(
            claims: #"{"iss":"ABCDE12345",\#(times),"scope":"mapkit_js","origin":"https://www.example.com"}"#),
        "apple-ads": TokenFixture(
            header: plain,
            claims: #"{"iss":"SEARCHADS.1",\#(times),"aud":"https://appleid.apple.com","sub":"SEARCHADS.2"}"#),
        "apple-business": TokenFixture(header: plain, claims: business),
        "apple-school": TokenFixture(header: plain, claims: business.replacing("BUSINESSAPI", with: "SCHOOLAPI")),
    ]

    /// The token for the profile, with one text of its claims or its header replaced.
    static func token(_ profile: String, _ text: String = "", _ other: String = "") throws -> String {
        let fixture = try #require(whole[profile])
        if text.isEmpty { return try fixture.token() }
        #expect((fixture.claims + fixture.header).contains(text), "\(profile) has no \(text)")
        return try fixture.replacing(text, other).withHeader(fixture.header.replacing(text, with: other)).token()
    }

    static func examine(
        _ token: String, _ profile: String, app: String? = nil, keys: [CandidateKey] = LegacyFixture.keys
    ) throws -> Explanation {
        let profile = try #require(ServiceProfiles.explained.first { $0.id == profile })
        return examiner(keys).examine(token: Array(token.utf8), profile: profile, app: app, isSearching: true)
    }

    static func examiner(_ keys: [CandidateKey] = LegacyFixture.keys) -> SignatureExaminer {
        SignatureExaminer(
            keys: keys, features: TokenFixture.features, profiles: ServiceProfiles.explained, now: LegacyFixture.now)
    }
}
