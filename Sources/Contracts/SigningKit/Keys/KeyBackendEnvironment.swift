/// The inputs of a backend besides its locator.
public struct KeyBackendEnvironment: Sendable {
    public let settings: PluginSettings
    public let secrets: any SecretSource
    /// The time of the start or reload by which a person last ordered this opening. It permits one more attempt at a
    /// login whose result was unclear before that time; nil permits none.
    public let reopenOrderedAt: ContinuousClock.Instant?
    /// Receives events of the open backend. The backend may call it on any thread. It returns at once.
    public let report: @Sendable (KeyBackendEvent) -> Void

    public init(
        settings: PluginSettings, secrets: any SecretSource, reopenOrderedAt: ContinuousClock.Instant? = nil,
        report: @escaping @Sendable (KeyBackendEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.secrets = secrets
        self.reopenOrderedAt = reopenOrderedAt
        self.report = report
    }
}
