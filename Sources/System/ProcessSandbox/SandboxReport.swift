/// The result of `ProcessSandbox.apply`.
public struct SandboxReport: Hashable, Codable, Sendable {
    /// A layer that is not in force.
    public struct MissingLayer: Hashable, Codable, Sendable {
        public let layer: SandboxLayer
        /// A clause for operators, such as `the kernel has no Landlock`.
        public let reason: String
    }

    /// In the order in which they were applied. A layer that does not concern the policy is in neither list, such as
    /// `tcp` with `Network.any`.
    public internal(set) var applied: [SandboxLayer] = []
    public internal(set) var missing: [MissingLayer] = []
    /// Sentences about files that an applied layer does not treat as the policy says.
    public internal(set) var limits: [String] = []

    mutating func miss(_ layers: some Sequence<SandboxLayer>, _ reason: String) {
        missing += layers.map { MissingLayer(layer: $0, reason: reason) }
    }
}
