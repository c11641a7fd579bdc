import Signing
import SigningKit
import Testing

@testable import GatewayConfiguration

@Suite("A valid configuration")
struct ValidConfigurationTests {
    @Test("the reader accepts the documented example")
    func example() throws {
        let configuration = try configuration(Examples.token)
        #expect(configuration.publicListener.address == .tcp(host: "127.0.0.1", port: 8080))
        #expect(configuration.publicListener.origin?.description == "gateway.yaml:1: listen")
        #expect(configuration.verification == .always)
        #expect(configuration.features.text("advancedCommerce") == "full")
        #expect(configuration.logging.level == .info)
        #expect(configuration.logging.format == .text)
        #expect(configuration.drainDelay == .seconds(1))
        #expect(configuration.proofInterval == .seconds(10))
        #expect(configuration.shutdownGracePeriod == .seconds(30))
        #expect(configuration.warnings.isEmpty)
        let account = try #require(configuration.accounts.first)
        #expect(account.issuerID == "57246542-96fe-1a63-e053-0824d011072a")
        #expect(account.apps.map(\.bundleID) == ["com.example.app"])
        #expect(account.apps.first?.features == features)
        #expect(account.activeKeyID == "2X9R4HXF34")
        let key = try #require(account.keys.first)
        #expect(key.keyID == "2X9R4HXF34")
        #expect(key.uri.scheme == "pkcs11")
        #expect(
            key.fingerprint?.description == "sha256:" + String(repeating: "2f0e1d3c4b5a69788796a5b4c3d2e1f0", count: 2))
        #expect(key.publicKey == nil)
        #expect(key.origin.description == "gateway.yaml:8: accounts[0].keys[0]")
    }

    @Test("the reader keeps every given setting")
    func everySetting() throws {
        let configuration = try configuration(Examples.full)
        #expect(configuration.publicListener.address == .tcp(host: "::1", port: 8443))
        #expect(configuration.verification == .sampled(every: 100))
        #expect(configuration.features.text("advancedCommerce") == "envelope")
        #expect(configuration.logging.level == .debug)
        #expect(configuration.logging.format == .json)
        #expect(configuration.drainDelay == .seconds(3))
        #expect(configuration.proofInterval == .seconds(300))
        #expect(configuration.shutdownGracePeriod == .seconds(12))
        #expect(configuration.backends["pkcs11"]?.integer("sessions") == 2)
        #expect(configuration.backends["pkcs11"]?.integer("queueLimit") == 512)
        #expect(configuration.backends["file"]?.boolean("allowSharedFiles") == true)
        #expect(configuration.accounts.map(\.activeKeyID) == ["3Y8S5JYG45", "ABCDEFGHIJ"])
        #expect(configuration.accounts[0].keys.map(\.uri.scheme) == ["pkcs11", "file"])
        #expect(
            configuration.accounts[0].apps.map(\.features) == [
                ["promotional-offer"], ["legacy-promotional-offer", "advanced-commerce-api"],
            ])
        #expect(configuration.accounts[1].origin.description == "gateway.yaml:26: accounts[1]")
    }

    @Test("a backend without settings has its defaults")
    func backendDefaults() throws {
        let configuration = try configuration(Examples.least)
        #expect(configuration.backends.keys.sorted() == ["file", "pkcs11"])
        #expect(configuration.backends["pkcs11"]?.integer("sessions") == 4)
        #expect(configuration.backends["file"]?.boolean("allowSharedFiles") == false)
        #expect(configuration.publicListener.origin == nil)
        #expect(configuration.publicListener.address == .standard)
    }

    @Test(
        "an identifier that looks like a YAML 1.1 number is kept unchanged",
        arguments: ["1234567890", "12E4567890", "0123456701", "1e10000000", "0x12345678", "1_000_0000"])
    func numberLikeIdentifiers(_ keyID: String) throws {
        let configuration = try configuration(Examples.least("2X9R4HXF34", keyID))
        #expect(configuration.accounts[0].keys[0].keyID == keyID)
        #expect(configuration.accounts[0].activeKeyID == keyID)
    }

    @Test(
        "verification has three modes, and off does not mean false",
        arguments: [
            ("always", VerificationMode.always), ("off", .off), ("\"off\"", .off),
            ("{sampled: 2}", .sampled(every: 2)), ("sampled:50", .sampled(every: 50)),
        ])
    func verification(_ text: String, _ expected: VerificationMode) throws {
        let configuration = try configuration("verification: \(text)\n" + Examples.least)
        #expect(configuration.verification == expected)
        #expect(try verification(of: #require(SettingKind.verification.text(expected))) == expected)
    }

    private func verification(of text: String) throws -> VerificationMode {
        try configuration(Examples.least, environment: ["PRIVYSEAL_VERIFICATION": text]).verification
    }

    @Test("a byte order mark, CRLF, comments, a document start and quoted keys have no effect")
    func harmlessForms() throws {
        let text =
            "\u{FEFF}%YAML 1.2\n---\n# a comment\t\u{E9}\n" + Examples.least.replacing("keyId:", with: "\"keyId\":")
        let configuration = try configuration(text.replacing("\n", with: "\r\n"))
        #expect(configuration.accounts[0].keys[0].keyID == "2X9R4HXF34")
        #expect(configuration.accounts[0].keys[0].origin.line == 10)
    }

    @Test("the reader warns about identifiers of an unusual shape")
    func warnings() throws {
        let text = Examples.least
            .replacing("57246542-96fe-1a63-e053-0824d011072a", with: "57246542-96fe-1a63e053-0824d011072a")
            .replacing("2X9R4HXF34", with: "demo").replacing("com.example.app", with: "com.example.äpp")
        #expect(
            try configuration(text).warnings.map(\.description) == [
                "gateway.yaml:2: accounts[0].issuerId: is not a UUID, but issuer IDs in App Store Connect are; check "
                    + "it.",
                "gateway.yaml:4: accounts[0].apps[0].bundleId: has characters other than letters, digits, hyphens and "
                    + "periods; check it.",
                "gateway.yaml:7: accounts[0].keys[0].keyId: is not ten upper-case letters and digits, but key IDs in "
                    + "App Store Connect are; check it.",
            ])
    }

    @Test("the reader warns about two keys at one URI and two accounts with one issuer ID")
    func sharedPlaces() throws {
        let text = Examples.full.replacing("third.p8", with: "AuthKey_3Y8S5JYG45.p8")
            .replacing("69a6de70-03db-47e3-e053-5b8c7c11a4d1", with: "57246542-96fe-1a63-e053-0824d011072a")
        #expect(
            try configuration(text).warnings.map(\.description) == [
                "gateway.yaml:26: accounts[1].issuerId: is also the issuer ID of another account "
                    + "(gateway.yaml:12: accounts[0].issuerId), maybe by mistake; check it.",
                "gateway.yaml:28: accounts[1].keys[0].uri: is also the location of another "
                    + "key (gateway.yaml:24: accounts[0].keys[1].uri); each key has one key ID.",
            ])
    }
}
