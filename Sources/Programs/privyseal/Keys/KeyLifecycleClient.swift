import SigningGateway

/// Requests key lifecycle changes: from a running gateway, or from the register itself while none runs.
protocol KeyLifecycleClient: Sendable {
    func overview() async throws -> KeyLifecycleOverview
    func change(_ order: KeyChangeOrder) async throws -> KeyChangeAnswer

    /// Has a key sign a fresh proof of possession, which `activate` requires.
    func prove(_ keyID: String) async throws -> KeyLifecycleRecord

    /// Another administrator than the proposer approves. A change without work on a token is done at once.
    ///
    /// - Parameter digest: of the proposal as the administrator saw it.
    func approve(_ proposal: String, digest: String) async throws -> KeyChangeAnswer
    func reject(_ proposal: String) async throws

    /// Call before the work on the token.
    func begin(_ order: ProvisioningOrder) async throws -> ProvisioningAnswer
    /// Call after the work on the token.
    func finish(_ job: String, _ end: ProvisioningResult) async throws -> ProvisioningOutcome
}
