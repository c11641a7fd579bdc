/// What a backend is given besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: KeyBackendSettings
    public let secrets: any SecretSource
    /// To be told what happens to the place while it is open. From any thread; it returns at once.
    public let report: @Sendable (KeyPlaceEvent) -> Void

    public init(
        settings: KeyBackendSettings, secrets: any SecretSource,
        report: @escaping @Sendable (KeyPlaceEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.secrets = secrets
        self.report = report
    }
}
