import SigningGateway

/// Where changes in the life of keys are asked for: a running gateway, or the register itself while none runs.
protocol KeyDesk: Sendable {
    func overview() async throws -> KeyLifeOverview
    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer

    /// Has a key sign a fresh proof of possession, which `activate` wants.
    func prove(_ keyID: String) async throws -> KeyLifeRecord

    /// By another administrator than the one who proposed it. What needs no work on a token is done at once.
    ///
    /// - Parameter digest: of the proposal as the administrator saw it.
    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer
    func reject(_ proposal: String) async throws

    /// Before a token is touched.
    func begin(_ order: KeyCeremonyOrder) async throws -> KeyCeremonyAnswer
    /// After it was.
    func finish(_ ceremony: String, _ end: KeyCeremonyEnd) async throws -> KeyCeremonyOutcome
}
