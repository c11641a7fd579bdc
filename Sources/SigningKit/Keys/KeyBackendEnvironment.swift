/// What a backend is given besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: KeyBackendSettings
    public let secrets: any SecretSource

    public init(settings: KeyBackendSettings, secrets: any SecretSource) {
        self.settings = settings
        self.secrets = secrets
    }
}
