import AuditLog
public import SigningKit

/// The source of times and nonces: the gateway's clock and the kernel's random numbers, never a caller.
public struct GrantIssuer: Sendable {
    private let now: @Sendable () -> Timestamp
    private let nonce: @Sendable () -> Nonce

    /// Uses the system clock, and nonces from the kernel.
    public init() {
        self.init(now: ClockMonitor.systemTime) {
            Nonce(random: .random(in: .min ... .max), .random(in: .min ... .max))
        }
    }

    /// - Parameter nonce: returns a new nonce for each call.
    public init(now: @escaping @Sendable () -> Timestamp, nonce: @escaping @Sendable () -> Nonce) {
        self.now = now
        self.nonce = nonce
    }

    public func issue(for app: AppIdentity) -> Grant {
        Grant(app: app, issuedAt: now(), nonce: nonce())
    }
}
