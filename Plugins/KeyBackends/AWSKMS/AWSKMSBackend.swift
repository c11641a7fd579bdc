public import SigningKit

/// Keys in AWS KMS, in one region. KMS holds the private keys and does not reveal them.
public struct AWSKMSBackend: KeyBackend {
    public static let scheme = "awskms"
    public static let needsNetwork = true
    public static var settings: [PluginSetting] { KMSSettings.declared }

    let location: KMSLocation

    public static func address(of uri: KeyURI) throws(KeyError) -> KeyAddress {
        guard uri.scheme == scheme else { throw .invalidURI("its scheme must be awskms") }
        return try KMSAddress(uri).address
    }

    /// Longer than each operation, which has its own limit.
    public static func callTimeout(_ settings: PluginSettings) -> Duration {
        (max(KMSSettings(settings).timeout, KMSSettings.managementTime) + .seconds(5)) * 2
    }

    /// Finds credentials. The first call to KMS is the search for a key.
    public static func open(
        _ locator: KeyLocator, in environment: KeyBackendEnvironment
    ) async throws(KeyError) -> AWSKMSBackend {
        try await open(locator, environment.settings, EnvironmentVariables())
    }

    /// - Parameter variables: in place of the environment of the process, for tests.
    static func open(
        _ locator: KeyLocator, _ settings: PluginSettings, _ variables: EnvironmentVariables
    ) async throws(KeyError) -> AWSKMSBackend {
        let location = try KMSLocation(locator, KMSSettings(settings), variables)
        _ = try await location.client.credentials.current()
        return AWSKMSBackend(location: location)
    }

    public func key(_ selector: KeySelector) async throws(KeyError) -> any SigningKey {
        try location.requireOpen()
        let name = try KMSAddress.key(selector)
        return try await location.remembering(selector) { () async throws(KeyError) in
            let deadline = ContinuousClock.now + KMSSettings.managementTime
            let metadata = try await location.describe(name, by: deadline)
            try metadata.requireFit(name.text)
            let publicKey = try await location.publicKey(metadata, name, by: deadline)
            return KMSKey(publicKey, arn: metadata.arn, name: name.text, in: location)
        }
    }

    public func health() async -> KeyBackendHealth { location.health }

    public func report() async -> KeyBackendReport {
        let (settings, inProgress) = (location.settings, location.gate.inProgress)
        let busy = min(inProgress, settings.connections)
        let pool = KeyBackendReport.Pool(
            wanted: settings.connections, ready: settings.connections, busy: busy, hungCalls: 0,
            queueDepth: inProgress - busy, queueLimit: settings.queueLimit, reconnects: 0)
        return KeyBackendReport(health: location.health, name: "awskms \(location.client.region.name)", pool: pool)
    }

    public func close() async {
        await location.gate.close()
        await location.client.transport.close()
    }
}

extension AWSKMSBackend: CustomStringConvertible, CustomReflectable {
    public var description: String { "AWSKMSBackend \(location.client.region.name)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
