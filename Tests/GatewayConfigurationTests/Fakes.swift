import GatewayConfiguration
import SigningKit

/// A backend that parses URIs and opens nothing.
protocol FakeBackend: KeyBackend {
    init()
}

extension FakeBackend {
    static func open(_ locator: KeyLocator, in environment: KeyBackendEnvironment) async throws(KeyError) -> Self {
        Self()
    }

    func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey { throw .notFound("There is no key.") }

    func health() async -> KeyBackendHealth { .ready }

    func close() async {}
}

struct FakeFiles: FakeBackend {
    static let scheme = "file"
    static let settings = [PluginSetting("allowSharedFiles", .boolean(default: false), "Whether others may read.")]

    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        guard uri.path.hasPrefix("/") else { throw .invalidURI("its path must be absolute") }
        return KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
    }
}

struct FakeTokens: FakeBackend {
    static let scheme = "pkcs11"
    static let settings = [
        PluginSetting("sessions", .integer(default: 4, allowed: 1...64), "Sessions."),
        PluginSetting("queueLimit", .integer(default: 256, allowed: 1...65_536), "Signatures that wait."),
    ]

    static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        KeyAddress(locator: KeyLocator(uri), selector: KeySelector(uri))
    }
}

let features = [
    "legacy-promotional-offer", "promotional-offer", "introductory-offer-eligibility", "advanced-commerce-api",
]

let featureSettings = [
    PluginSetting("advancedCommerce", .choice(default: "full", of: ["full", "envelope"]), "The strictness of checks.")
]

/// 2026-11-01T00:00:00Z: a fixed time, so that the tokens in the examples do not expire.
let now = Timestamp(milliseconds: 1_793_491_200_000)

func configuration(
    _ yaml: String, environment: [String: String] = [:]
) throws(ConfigurationError) -> GatewayConfiguration {
    try configuration(Array(yaml.utf8), environment: environment)
}

func configuration(
    _ yaml: [UInt8], environment: [String: String] = [:]
) throws(ConfigurationError) -> GatewayConfiguration {
    try .read(
        yaml, name: "gateway.yaml", environment: environment, features: features,
        featureSettings: featureSettings, backends: [FakeTokens.self, FakeFiles.self], now: now)
}

/// The lines that the operator sees; empty if the configuration is valid.
func faults(in yaml: String, environment: [String: String] = [:]) -> [String] {
    do {
        _ = try configuration(yaml, environment: environment)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}
