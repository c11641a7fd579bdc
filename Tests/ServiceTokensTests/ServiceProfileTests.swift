import Encodings
import SigningKit
import StrictJSON
import Testing

@testable import ServiceTokens

@Suite("Profiles of service tokens")
struct ServiceProfileTests {
    private static let now: Int64 = 1_741_043_663

    private static func order(
        _ choices: ServiceTokenChoices = ServiceTokenChoices(), lifetime: Int64? = nil
    ) -> ServiceTokenOrder {
        ServiceTokenOrder(
            identifiers: [
                .teamID: "ABCDE12345", .issuerID: "57246542-96fe-1a63-e053-0824d011072a", .clientID: "CLIENT.1",
                .serviceID: "com.example.weather",
            ],
            keyID: "2X9R4HXF34", issuedAt: Timestamp(milliseconds: now * 1000 + 987), nonce: Nonce(random: 1, 2),
            choices: choices, lifetime: lifetime)
    }

    private static func profile(_ id: String) throws -> ServiceProfile {
        try #require(ServiceProfiles.all.first { $0.id == id })
    }

    private static func parts(_ profile: ServiceProfile, _ order: ServiceTokenOrder) throws -> [String] {
        try profile.compose(order).signingInput.split(separator: UInt8(ascii: ".")).map {
            String(decoding: try #require(Base64.url.decode($0)), as: UTF8.self)
        }
    }

    /// What Apple's pages document, written by hand. Times are relative to `now`.
    private static let documented: [(String, ServiceTokenChoices, header: String, claims: String)] = [
        ("apns", .init(), #"{"alg":"ES256","kid":"2X9R4HXF34"}"#, #"{"iss":"ABCDE12345","iat":1741043663}"#),
        (
            "app-store-connect-team", .init(scopes: ["GET /v1/apps"]),
            #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#,
            #"{"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1741043603,"exp":1741044563,"#
                + #""aud":"appstoreconnect-v1","scope":["GET /v1/apps"]}"#
        ),
        (
            "app-store-connect-individual", .init(), #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#,
            #"{"sub":"user","iat":1741043603,"exp":1741044563,"aud":"appstoreconnect-v1"}"#
        ),
        (
            "sign-in-with-apple", .init(subject: "com.example.web"), #"{"alg":"ES256","kid":"2X9R4HXF34"}"#,
            #"{"iss":"ABCDE12345","iat":1741043603,"exp":1741043963,"aud":"https://appleid.apple.com","#
                + #""sub":"com.example.web"}"#
        ),
        (
            "weatherkit", .init(), #"{"alg":"ES256","kid":"2X9R4HXF34","id":"ABCDE12345.com.example.weather"}"#,
            #"{"iss":"ABCDE12345","iat":1741043603,"exp":1741045463,"sub":"com.example.weather"}"#
        ),
        (
            "mapkit-js", .init(origins: ["https://a.example", "*.b.example"]),
            #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#,
            #"{"iss":"ABCDE12345","iat":1741043603,"exp":1741045463,"scope":"mapkit_js","#
                + #""origin":"https://a.example,*.b.example"}"#
        ),
        (
            "apple-business", .init(), #"{"alg":"ES256","kid":"2X9R4HXF34"}"#,
            #"{"iss":"CLIENT.1","sub":"CLIENT.1","aud":"https://account.apple.com/auth/oauth2/v2/token","#
                + #""iat":1741043603,"exp":1741044263,"jti":"00000000-0000-4001-8000-000000000002"}"#
        ),
    ]

    @Test("Header and claims are exactly the documented ones", arguments: documented)
    func form(_ id: String, _ choices: ServiceTokenChoices, header: String, claims: String) throws {
        let parts = try Self.parts(Self.profile(id), Self.order(choices))
        #expect(parts == [header, claims])
    }

    @Test("A snapshot URL is signed with team and key, and has the signature at its end")
    func snapshot() throws {
        let draft = try Self.profile("maps-snapshot-url").compose(Self.order(.init(parameters: "center=Berlin")))
        let path = "/api/v1/snapshot?center=Berlin&teamId=ABCDE12345&keyId=2X9R4HXF34"
        #expect(String(decoding: draft.signingInput, as: UTF8.self) == path)
        let signature = try #require(P256Signature(rawRepresentation: [UInt8](repeating: 7, count: 64)))
        let answer = draft.makeAnswer(signature)
        let url = String(decoding: answer.url ?? [], as: UTF8.self)
        #expect(
            url == "https://snapshot.apple-mapkit.com\(path)&signature=\(String(decoding: answer.token, as: UTF8.self))"
        )
        #expect(answer.expiresAt == nil)
    }

    @Test("Every profile has a name of its own, and no lifetime is above Apple's limit", arguments: ServiceProfiles.all)
    func limit(_ profile: ServiceProfile) throws {
        #expect(ServiceProfiles.all.count { $0.id == profile.id } == 1)
        guard let lifetime = profile.lifetime else { return }
        let choices = ServiceTokenChoices(origins: ["https://a.example"], subject: "s")
        let claims = try Self.parts(profile, Self.order(choices, lifetime: .max / 2))[1]
        let members = try JSONDocument(parsing: Array(claims.utf8)).root.anyObject()
        let span = try #require(try members["exp"]?.integer()) - (try #require(try members["iat"]?.integer()))
        #expect(span <= lifetime.limit)
        if profile.choices.contains(.scopes) { #expect(span == 1200) }
    }

    @Test(
        "Only GET scopes of the listed resources make an App Store Connect token longer than 20 minutes",
        arguments: [
            (["GET /v1/ciProducts?limit=10"], 15_777_000), (["GET /v1/apps/1/perfPowerMetrics"], 15_777_000),
            (["POST /v1/ciBuildRuns"], 1200), (["GET /v1/ciProducts", "GET /v1/apps"], 1200),
            (["GET /v1/apps?ciProducts"], 1200),
        ] as [([String], Int64)])
    func scopes(_ scopes: [String], _ span: Int64) throws {
        let order = Self.order(.init(scopes: scopes), lifetime: 86_400_000)
        let token = try Self.profile("app-store-connect-team").compose(order)
        let signature = try #require(P256Signature(rawRepresentation: [UInt8](repeating: 7, count: 64)))
        let answer = token.makeAnswer(signature)
        #expect(try #require(answer.expiresAt) - answer.issuedAt == span)
        #expect(answer.refreshAfter == (answer.expiresAt ?? 0) - 60)
    }

    @Test(
        "Choices that Apple would refuse are refused with their name",
        arguments: [
            ("app-store-connect-team", .init(scopes: ["/v1/apps"]), "scopes[0]"),
            ("app-store-connect-team", .init(scopes: ["GET /a", "get /b"]), "scopes[1]"),
            ("mapkit-js", .init(origins: ["www.example.com"]), "origins[0]"),
            ("mapkit-js", .init(origins: ["https://a.example/path"]), "origins[0]"),
            ("mapkit-js", .init(origins: ["https://evil.example,https://a.example"]), "origins[0]"),
            ("mapkit-js", .init(origins: ["https://evil.example://a.example"]), "origins[0]"),
            ("mapkit-js", .init(origins: ["https://a.example", "https://"]), "origins[1]"),
            ("app-store-connect-team", .init(scopes: ["GET /v1/ciProducts/../apps"]), "scopes[0]"),
            ("app-store-connect-team", .init(scopes: ["GET /v1/ciProducts/..%2Fapps"]), "scopes[0]"),
            ("maps-snapshot-url", .init(parameters: "t%65amId=x"), "parameters"),
            ("maps-snapshot-url", .init(parameters: "center=%zz"), "parameters"),
            ("maps-snapshot-url", .init(parameters: "center=Berlin&keyId=X"), "parameters"),
            ("maps-snapshot-url", .init(parameters: "center=Berlin Mitte"), "parameters"),
            ("maps-snapshot-url", .init(parameters: "center=1&&z=2"), "parameters"),
            ("maps-snapshot-url", .init(parameters: ""), "parameters"),
            ("maps-snapshot-url", .init(parameters: "?"), "parameters"),
            ("maps-snapshot-url", .init(parameters: "?center=a"), "parameters"),
        ] as [(String, ServiceTokenChoices, String)])
    func refusals(_ id: String, _ choices: ServiceTokenChoices, _ path: String) throws {
        let error = #expect(throws: FeatureError.self) { try Self.profile(id).compose(Self.order(choices)) }
        guard case .request(let error)? = error else {
            Issue.record("It is no fault of the request.")
            return
        }
        #expect(error.path == path)
    }
}
