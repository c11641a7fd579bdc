import GatewayConfiguration
import SigningKit
import Testing

@Suite("Settings that plugins declare")
struct PluginSettingTests {
    /// A backend with a setting of each kind.
    struct Cloud: FakeBackend {
        static let scheme = "cloud"
        static let settings = [
            PluginSetting("region", .text(default: ""), "The region."),
            PluginSetting("proofInterval", .seconds(default: 300, allowed: 10...3600), "Seconds between two proofs."),
            PluginSetting("share", .number(default: 0.5, allowed: 0...1), "A fraction."),
            PluginSetting("tier", .choice(default: "standard", of: ["standard", "premium"]), "The tier."),
            PluginSetting("retries", .integer(default: 3, allowed: 0...9, except: [4]), "Retries."),
            PluginSetting("strict", .boolean(default: true), "Whether it is strict."),
        ]

        static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
            KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
        }
    }

    @Test("a setting of each kind has its value, or its default")
    func values() throws {
        let given = try read(
            "region: eu-west-1, proofInterval: 60, share: 0.25, tier: premium, retries: 0, strict: false")
        #expect(given.text("region") == "eu-west-1")
        #expect(given.seconds("proofInterval") == .seconds(60))
        #expect(given.number("share") == 0.25)
        #expect(given.text("tier") == "premium")
        #expect(given.integer("retries") == 0)
        #expect(!given.boolean("strict"))
        let absent = try read("")
        #expect(absent == PluginSettings(defaultsOf: Cloud.settings))
        #expect(absent.text("region") == "")
        #expect(absent.seconds("proofInterval") == .seconds(300))
    }

    @Test(
        "an invalid value is refused with its range or choices",
        arguments: [
            ("region: \"eu west\"", "region: holds white space; remove it."),
            ("region: \"\"", "region: is empty; it must hold at least one character."),
            ("region: [a]", "region: must be text, but is a list."),
            ("proofInterval: 9", "proofInterval: is 9; it must be from 10 to 3600 seconds."),
            ("share: 1.5", "share: is 1.5; it must be from 0 to 1."),
            (
                "tier: premum",
                "tier: is \"premum\", which is not known; did you mean premium? The choices are standard, premium."
            ),
            ("retries: 4", "retries: is 4; it must be another number from 0 to 9."),
            (
                "regoin: a",
                "regoin: is not a known key; did you mean region? The keys are region, proofInterval, share, tier, "
                    + "retries, strict."
            ),
        ])
    func refused(_ text: String, _ fault: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error.faults.map(\.description) == ["gateway.yaml:1: backends.cloud." + fault])
    }

    @Test("a text that becomes configured, and another value, are differences")
    func differences() throws {
        let changes = try configuration("region: a, share: 1").changes(from: configuration(""))
        #expect(
            changes.map(\.description) == [
                "backends.cloud.region: is added as a.", "backends.cloud.share: changes from 0.5 to 1.",
            ])
    }

    private func read(_ text: String) throws -> PluginSettings {
        try #require(try configuration(text).backends["cloud"])
    }

    private func configuration(_ text: String) throws(ConfigurationError) -> GatewayConfiguration {
        let yaml = "backends: {cloud: {\(text)}}\n" + Examples.least
        return try GatewayConfiguration.read(
            Array(yaml.utf8), name: "gateway.yaml", environment: [:], features: features,
            featureSettings: featureSettings, backends: [Cloud.self, FakeFiles.self], now: now)
    }
}
