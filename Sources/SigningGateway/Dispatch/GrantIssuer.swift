import Glibc
public import SigningKit

/// Where time and nonces come from: the gateway's own clock and the kernel's random numbers, never a caller.
public struct GrantIssuer: Sendable {
    private let now: @Sendable () -> Timestamp
    private let nonce: @Sendable () -> Nonce

    /// - Parameters:
    ///   - now: the time; the system's clock when nothing else is given.
    ///   - nonce: a fresh nonce for each call; `getentropy` when nothing else is given.
    public init(
        now: @escaping @Sendable () -> Timestamp = GrantIssuer.systemTime,
        nonce: @escaping @Sendable () -> Nonce = GrantIssuer.randomNonce
    ) {
        self.now = now
        self.nonce = nonce
    }

    public func issue(for app: AppIdentity) -> Grant {
        Grant(app: app, issuedAt: now(), nonce: nonce())
    }

    /// `CLOCK_REALTIME`.
    public static func systemTime() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public static func randomNonce() -> Nonce {
        var random = InlineArray<2, UInt64>(repeating: 0)
        var bytes = random.mutableSpan
        let isFilled = bytes.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
        guard isFilled else {
            // Only on kernels without getrandom(2); the generator reads /dev/urandom there.
            var generator = SystemRandomNumberGenerator()
            return Nonce(random: generator.next(), generator.next())
        }
        return Nonce(random: random[0], random[1])
    }
}
