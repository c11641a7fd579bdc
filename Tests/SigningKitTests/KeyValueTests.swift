import Crypto
import SigningKit
import Testing

@Suite("Fingerprints, settings and secrets")
struct KeyValueTests {
    /// Made with `openssl pkey -pubin -outform DER | sha256sum`.
    @Test("a fingerprint is the SHA-256 of the SubjectPublicKeyInfo, as openssl computes it")
    func fingerprint() throws {
        let key = try P256.Signing.PublicKey(pemRepresentation: Self.pem)
        let fingerprint = PublicKeyFingerprint(of: key)
        #expect(fingerprint.description == "sha256:\(Self.digits)")
        #expect(PublicKeyFingerprint("sha256:\(Self.digits)") == fingerprint)
        #expect(PublicKeyFingerprint("SHA256:\(Self.digits.uppercased())") == fingerprint)
        let pairs = stride(from: 0, to: 64, by: 2).map { Self.digits.dropFirst($0).prefix(2) }
        #expect(PublicKeyFingerprint("sha256:\(pairs.joined(separator: ":"))") == fingerprint)
    }

    @Test("an invalid fingerprint is refused")
    func notFingerprints() {
        let digits = Self.digits
        for text in ["", "sha256:", digits, "sha1:\(digits)", "sha256:\(digits)0", "sha256:\(digits.dropLast())"] {
            #expect(PublicKeyFingerprint(text) == nil)
        }
        #expect(PublicKeyFingerprint("sha256:g\(digits.dropFirst())") == nil)
        #expect(PublicKeyFingerprint("sha256:+1\(digits.dropFirst(2))") == nil)
        #expect(PublicKeyFingerprint("sha256:Ａ\(digits.dropFirst(3))") == nil)
    }

    @Test("given settings override the defaults")
    func settingsAndDefaults() throws {
        let given = try PluginSettings(["sessions": .integer(4)], for: Self.settings)
        #expect(given.integer("sessions") == 4)
        #expect(given.boolean("lax") == false)
        let defaults = try PluginSettings(for: Self.settings)
        #expect(defaults.integer("sessions") == 2)
        #expect(try PluginSettings(["lax": .boolean(true)], for: Self.settings).boolean("lax"))
    }

    @Test(
        "an unknown, mistyped or out-of-range setting is refused by name",
        arguments: [
            ("Sessions", .integer(4), "lax"), ("sessions", .boolean(true), "whole number"),
            ("lax", .integer(1), "true or false"),
            ("sessions", .integer(0), "from 1 to 64"), ("sessions", .integer(65), "from 1 to 64"),
        ] as [(String, PluginSettings.Value, String)])
    func invalidSettings(_ name: String, _ value: PluginSettings.Value, _ words: String) {
        #expect { try PluginSettings([name: value], for: Self.settings) } throws: { error in
            guard case .invalidSetting(let found, let sentence) = error as? KeyError else { return false }
            return found == name && sentence.contains(words)
        }
    }

    @Test("a secret does not show its value when printed, dumped or reflected")
    func secrets() {
        let secret = Array("hunter2".utf8).withUnsafeBytes { Secret($0) }
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2"))
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(secret.withBytes { Array($0) } == Array("hunter2".utf8))
        #expect([UInt8]().withUnsafeBytes { Secret($0) }.count == 0)
    }

    @Test("wipe leaves zeros")
    func wipe() {
        var bytes = Array("hunter2".utf8)
        bytes.withUnsafeMutableBytes { Secret.wipe($0) }
        #expect(bytes == [UInt8](repeating: 0, count: 7))
    }

    private static let settings = [
        PluginSetting("lax", .boolean(default: false), ""),
        PluginSetting("sessions", .integer(default: 2, allowed: 1...64), ""),
    ]

    private static let pem = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQh+r7GOl6tHUeduC/oDEZ4gBM6YE
        HhWB8hBpM/5Gn4xyC+C5FHni9jEQTq3IwqjZDQ3WEvzU2zl6sfJJHjLeDw==
        -----END PUBLIC KEY-----
        """
    private static let digits = "9c92d6405eaf9fd13e43227376ae2abf41dd7b5a69b06892e25a828cbdec9044"
}
