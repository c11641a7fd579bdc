import Crypto
import ServiceTokens
import SignatureExplanation
import SigningKit
import Testing

/// A service token with one text replaced, and the first finding about it.
struct ServiceTokenMistake: CustomTestStringConvertible, Sendable {
    let profile: String
    let text: String
    let other: String
    let code: FindingCode
    let field: String?

    init(_ profile: String, _ text: String, _ other: String, _ code: FindingCode, _ field: String?) {
        (self.profile, self.text, self.other, self.code, self.field) = (profile, text, other, code, field)
    }

    var testDescription: String { "\(profile): \(text) -> \(other)" }
}

@Suite("Explanation of a service token")
struct ServiceTokenExplanationTests {
    @Test("a token as Apple documents it is valid", arguments: ServiceTokenFixture.whole.keys.sorted())
    func valid(_ profile: String) throws {
        let explanation = try ServiceTokenFixture.examine(ServiceTokenFixture.token(profile), profile)
        #expect(explanation.isValid)
        #expect(explanation.findings.isEmpty)
    }

    private static let identifiers: [ServiceTokenMistake] = [
        .init("apns", "ABCDE12345", "abcde12345", .identifierOther, "iss"),
        .init("apns", "ABCDE12345", "ABCDE1234", .identifierOther, "iss"),
        .init("apns", "ABCDE12345", "com.example.app", .identifierOther, "iss"),
        .init("apns", "ABCDE12345", "ABCDE12345 ", .fieldWhiteSpace, "iss"),
        .init("app-store-server-api", "com.example.app", "com.example.app ", .fieldWhiteSpace, "bid"),
        .init("app-store-server-api", "com.example.app", "\\tcom.example.app", .fieldInvisible, "bid"),
        .init("app-store-server-api", "com.example.app", "undefined", .fieldUndefined, "bid"),
        .init("weatherkit", "\"id\":\"ABCDE12345", "\"id\":\"ZZZZZ12345", .identifierOther, "id"),
        .init("weatherkit", "5.com.example.weather", "5.com.example.other", .identifierOther, "id"),
        .init("weatherkit", "\"iss\":\"ABCDE12345", "\"iss\":\"abcde12345", .identifierOther, "iss"),
        .init("weatherkit", "\"sub\":\"com.example.weather", "\"sub\":\"com.example.weather ", .fieldWhiteSpace, "sub"),
        .init("apple-business", "\"sub\":\"BUSINESSAPI.1", "\"sub\":\"BUSINESSAPI.2", .identifierOther, "sub"),
        .init("apple-business", "BUSINESSAPI.1", "CLIENT.1", .identifierOther, "iss"),
        .init("apple-school", "\"sub\":\"SCHOOLAPI.1", "\"sub\":\"BUSINESSAPI.1", .identifierOther, "sub"),
        .init("apple-ads", "SEARCHADS.1", "ABCDE12345", .identifierOther, "iss"),
        .init("apple-ads", "SEARCHADS.2", "com.example.web", .identifierOther, "sub"),
        .init("sign-in-with-apple", "com.example.web", "SEARCHADS.2", .identifierOther, "sub"),
    ]

    private static let arrays: [ServiceTokenMistake] = [
        .init("app-store-connect-team", "}", ",\"scope\":[]}", .claimEmpty, "scope"),
        .init("app-store-connect-team", "}", ",\"scope\":[5]}", .claimKind, "scope[0]"),
        .init("app-store-connect-team", "}", ",\"scope\":[\"GET /v1/apps\",null]}", .claimKind, "scope[1]"),
        .init("apple-music", "[\"https://www.example.com\"]", "[true]", .claimKind, "origin[0]"),
    ]

    /// Without the claim, the claims are also those of another service.
    private static let missing: [ServiceTokenMistake] = [
        .init("app-store-server-api", ",\"bid\":\"com.example.app\"", "", .claimMissing, "bid"),
        .init("app-store-connect-team", ",\"aud\":\"appstoreconnect-v1\"", "", .claimMissing, "aud"),
        .init("sign-in-with-apple", ",\"aud\":\"https://appleid.apple.com\"", "", .claimMissing, "aud"),
        .init("weatherkit", ",\"sub\":\"com.example.weather\"", "", .claimMissing, "sub"),
        .init("mapkit-js", ",\"scope\":\"mapkit_js\"", "", .claimMissing, "scope"),
        .init("maps-server", ",\"scope\":\"server_api\"", "", .claimMissing, "scope"),
        .init("apple-music", ",\"exp\":1698149260,\"origin\":[\"https://www.example.com\"]", "", .claimMissing, "exp"),
    ]

    private static let additional: [ServiceTokenMistake] = [
        .init("apns", "}", ",\"exp\":1698149260}", .claimExp, "exp"),
        .init("devicecheck", "}", ",\"exp\":1698149260}", .claimExp, "exp"),
        .init("app-store-connect-team", "}", ",\"sub\":\"user\"}", .claimNotDocumented, "sub"),
        .init("apple-music", ",\"origin\":[\"https://www.example.com\"]", ",\"sub\":\"x\"", .claimNotDocumented, "sub"),
    ]

    private static let times: [ServiceTokenMistake] = [
        .init("apns", "1698148900", "1698148900000", .iatMilliseconds, "iat"),
        .init("apns", "1698148900", "1698148900000000", .iatFiner, "iat"),
        .init("apns", "1698148900", "1698148900000000000", .iatFiner, "iat"),
        .init("apns", "1698148900", "719841700", .iatRange, "iat"),
        .init("apple-music", "1698149260", "1698149260000000", .expRange, "exp"),
    ]

    @Test(
        "a token with one mistake has it as the first finding, and is not valid",
        arguments: identifiers + arrays + missing + additional + times)
    func mistake(_ mistake: ServiceTokenMistake) throws {
        // "}" is also in the header.
        let token =
            mistake.text == "}"
            ? try #require(ServiceTokenFixture.whole[mistake.profile]).replacing("}", mistake.other).token()
            : try ServiceTokenFixture.token(mistake.profile, mistake.text, mistake.other)
        let explanation = try ServiceTokenFixture.examine(token, mistake.profile)
        let first = try #require(explanation.findings.first)
        #expect(first.code == mistake.code, "\(explanation.findings)")
        #expect(first.field == mistake.field)
        #expect(!first.message.contains(".."))
        #expect(!explanation.isValid)
        #expect(!explanation.findings.contains { $0.code == .familyOther || $0.cure.contains("transactionId") })
    }

    @Test(
        "a whole token for a service with another kind of key is recognised",
        arguments: [
            ("app-store-connect-team", "app-store-server-api"),
            ("app-store-connect-team", "app-store-connect-individual"),
            ("app-store-connect-team", "enterprise-program"),
            ("app-store-connect-individual", "app-store-connect-team"), ("apns", "sign-in-with-apple"),
            ("apns", "app-store-connect-team"), ("apns", "apple-music"), ("apple-music", "weatherkit"),
            ("apple-music", "maps-server"), ("apple-music", "mapkit-js"), ("weatherkit", "sign-in-with-apple"),
            ("sign-in-with-apple", "apple-ads"), ("apple-ads", "sign-in-with-apple"),
        ])
    func family(_ requested: String, _ made: String) throws {
        let first = try ServiceTokenFixture.examine(ServiceTokenFixture.token(made), requested).findings.first
        #expect(first?.code == .familyOther)
        #expect(first?.message.hasPrefix("The claims are those of \(made), which needs the ") == true)
    }

    @Test("the profile of a token is recognised", arguments: ServiceTokenFixture.whole.keys.sorted())
    func recognition(_ profile: String) throws {
        // Tokens for these have the same claims as tokens for the other service.
        let expected = ["devicecheck": "apns", "apple-school": "apple-business"][profile] ?? profile
        let token = try ServiceTokenFixture.token(profile)
        #expect(ServiceTokenFixture.examiner().profile(of: Array(token.utf8))?.id == expected)
    }

    @Test("a token for the App Store Server API is valid only for the expected app")
    func app() throws {
        let token = try ServiceTokenFixture.token("app-store-server-api")
        #expect(try ServiceTokenFixture.examine(token, "app-store-server-api", app: "com.example.app").isValid)
        let other = try ServiceTokenFixture.examine(token, "app-store-server-api", app: "com.example.other")
        #expect(other.findings.map(\.code) == [.appDiffers])
        #expect(!other.isValid)
    }

    @Test("the remedy for an unexplained signature names the kind of key that the service needs")
    func unexplained() throws {
        let fixture = try #require(ServiceTokenFixture.whole["apns"])
        let explanation = try ServiceTokenFixture.examine(fixture.token(key: P256.Signing.PrivateKey()), "apns")
        #expect(explanation.findings.map(\.code) == [.unexplained])
        #expect(explanation.findings.first?.cure.contains("A token for apns needs the push notifications key") == true)
        #expect(explanation.findings.first?.cure.contains("In-App Purchase") == false)
    }
}
