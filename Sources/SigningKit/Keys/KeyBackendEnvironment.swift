/// What a backend is given besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: KeyBackendSettings
    public let secrets: any SecretSource
    /// When a person last asked for the place to be opened, by a start or a reload. A login that a token left unclear
    /// before that may be tried once more; nil allows none.
    public let orderedAt: ContinuousClock.Instant?
    /// To be told what happens to the place while it is open. From any thread; it returns at once.
    public let report: @Sendable (KeyPlaceEvent) -> Void

    public init(
        settings: KeyBackendSettings, secrets: any SecretSource, orderedAt: ContinuousClock.Instant? = nil,
        report: @escaping @Sendable (KeyPlaceEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.secrets = secrets
        self.orderedAt = orderedAt
        self.report = report
    }
}
