import Logging
public import ServiceLifecycle
import Synchronization

/// Keeps an eye on the ring: opens what is missing, has every key sign a proof now and then, and answers whether the
/// gateway is ready from what it last saw. To ask costs at most one proof a second for each key, and no login; only to
/// open what was missing may take one.
public final class KeyRingMonitor: Service {
    private let ring: KeyRing
    private let doorbell = Doorbell()
    private let rounds = Mutex(Rounds())

    private struct Rounds {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var last: ContinuousClock.Instant?
        var isStopped = false
    }

    /// How old the proof may be that `/readyz` answers from.
    private static let freshness = Duration.seconds(1)
    /// Between rounds that nobody asked for.
    private static let interval = Duration.seconds(10)
    /// The same while a key is down: its coming back should not wait.
    private static let impatientInterval = Duration.seconds(1)

    public init(_ ring: KeyRing) {
        self.ring = ring
    }

    public func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.round()
                let isMending = self.ring.slots.contains { $0.state.isDown }
                await self.doorbell.wait(atMost: isMending ? Self.impatientInterval : Self.interval)
            }
        }
        stop()
    }

    /// Every key, after a look that is at most a second old.
    public func report() async -> [KeySlot] {
        await withCheckedContinuation { continuation in
            let isFresh = rounds.withLock { rounds in
                if rounds.isStopped { return true }
                if let last = rounds.last, .now - last < Self.freshness { return true }
                rounds.waiting.append(continuation)
                return false
            }
            if isFresh { continuation.resume() } else { doorbell.ring() }
        }
        return ring.slots
    }

    private func round() async {
        await ring.openMissing()
        await ring.prove(olderThan: Self.freshness)
        release { $0.last = .now }
    }

    private func stop() {
        release { $0.isStopped = true }
    }

    private func release(_ change: (inout Rounds) -> Void) {
        let waiting = rounds.withLock { rounds in
            change(&rounds)
            defer { rounds.waiting = [] }
            return rounds.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
