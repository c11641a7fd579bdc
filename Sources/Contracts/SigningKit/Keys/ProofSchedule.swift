/// How often a key proves that it can sign. Each proof costs a signature. For a key that sets a limit here, each verified
/// signature for a request counts as a proof, too.
public struct ProofSchedule: Hashable, Sendable {
    /// The minimum age of a proof before the next one; nil if a proof counts until a signature fails.
    public var interval: Duration?
    /// The minimum time between two attempts while the key does not sign.
    public var retryInterval: Duration

    public init(interval: Duration?, retryInterval: Duration = .zero) {
        self.interval = interval
        self.retryInterval = retryInterval
    }

    /// Whenever the gateway wants one: at its `proofInterval`, for `/readyz`, and each second while the key is down.
    public static let unlimited = ProofSchedule(interval: .zero)
    /// One proof when the key is opened, and then only after a failure.
    public static let onDemand = ProofSchedule(interval: nil)
}
