import Crypto
public import SigningKit

extension GatewayConfiguration {
    /// In bytes. The configuration of a thousand apps is smaller.
    static let maximumSize = 1 << 20

    /// Reads the file, then the `PRIVYSEAL_…` variables, which take precedence.
    ///
    /// - Parameters:
    ///   - path: The path of the file; messages name it as given here.
    ///   - environment: All variables of the process. Those without the prefix are ignored.
    ///   - features: The IDs of the features that an app can have.
    ///   - featureSettings: The settings that the features declare, which are under `validation`.
    ///   - backends: The program's backends. They split the keys' URIs, and open nothing.
    ///   - profiles: The kinds of service tokens.
    ///   - mayBePipe: Whether the file may be a FIFO. The call then blocks until another process writes to it.
    ///   - now: The time for the checks of expiry; by default, the system's clock.
    /// - Throws: All faults, not only the first.
    public static func load(
        path: String, environment: [String: String], features: [String], featureSettings: [PluginSetting],
        backends: [any KeyBackend.Type], profiles: [ServiceProfile] = [], mayBePipe: Bool = false,
        now: Timestamp? = nil
    ) throws(ConfigurationError) -> GatewayConfiguration {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.contents(of: path, limit: maximumSize, mayBePipe: mayBePipe)
        } catch {
            let origin = ConfigurationOrigin(source: path)
            throw ConfigurationError([ConfigurationFinding(origin: origin, sentence: error.sentence)])
        }
        do throws(ConfigurationError) {
            return try read(
                bytes, name: path, environment: environment, features: features, featureSettings: featureSettings,
                backends: backends, profiles: profiles, now: now)
        } catch {
            var error = error
            error.digest = Array(SHA256.hash(data: bytes))
            throw error
        }
    }

    /// Reads a file in memory; messages call it `name`.
    public static func read(
        _ bytes: [UInt8], name: String, environment: [String: String], features: [String],
        featureSettings: [PluginSetting], backends: [any KeyBackend.Type], profiles: [ServiceProfile] = [],
        now: Timestamp? = nil
    ) throws(ConfigurationError) -> GatewayConfiguration {
        let plugins = Plugins(
            features: features, featureSettings: featureSettings, backends: backends, profiles: profiles)
        let findings = Findings(plugins)
        let file = ConfigurationOrigin(source: name)
        var configuration = GatewayConfiguration(file: file, digest: Array(SHA256.hash(data: bytes)), plugins)
        var root = SettingNode(content: .faulty, origin: file)
        if let source = YAMLSource(bytes, file, findings) {
            if let found = YAMLReader.read(source, file, findings), !found.isNull {
                root = found
                _ = configuration.readSection(root, findings)
            } else if findings.faults.isEmpty {
                findings.fault("holds no settings; it must have accounts or services", at: file)
            }
        }
        EnvironmentReader.read(environment, into: &configuration, findings)
        ListenerRules(configuration: configuration, findings: findings).check()
        IssuerReferences(configuration: configuration, root: root, findings: findings).check()
        try findings.throwFaults()
        AccessWarnings(configuration: configuration, root: root, now: now ?? .now(), findings: findings).look()
        configuration.warnings = findings.listedWarnings
        return configuration
    }
}
