public import ServiceLifecycle
import Synchronization

/// Keeps an eye on the ring that serves: opens what is missing, has every key sign a proof now and then, and answers whether the
/// gateway is ready from what it last saw. To ask costs at most one proof a second for each key, and no login.
public final class KeyRingMonitor: Service {
    private let gateway: LiveGateway
    private let afterOpening: @Sendable () throws -> Void
    private let doorbell = Doorbell()
    private let rounds = Mutex(Rounds())

    private struct Rounds {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var last: ContinuousClock.Instant?
        var isStopped = false
    }

    /// How old the proof may be that `/readyz` answers from.
    private static let freshness = Duration.seconds(1)
    /// Between attempts to open what is missing.
    private static let pause = Duration.seconds(1)

    /// - Parameter afterOpening: called once, when every key has been tried; what it throws ends the monitor.
    public init(_ gateway: LiveGateway, afterOpening: @escaping @Sendable () throws -> Void = {}) {
        self.gateway = gateway
        self.afterOpening = afterOpening
    }

    public func run() async throws {
        defer { release { $0.isStopped = true } }
        // Two lines of work: a place that takes its time to open must not delay what is known of the others.
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup { group in
                group.addTask { try await self.openKeys() }
                group.addTask { await self.proveKeys() }
                while try await group.next() != nil {}
            }
        }
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

    private var ring: KeyRing { gateway.current.ring }

    private func openKeys() async throws {
        await ring.openMissing()
        try afterOpening()
        lookAgain()
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            if await ring.openMissing() { lookAgain() }
        }
    }

    /// What was seen before a key came in, or before another ring serves, is not worth telling any more.
    public func lookAgain() {
        rounds.withLock { $0.last = nil }
        doorbell.ring()
    }

    private func proveKeys() async {
        while !Task.isCancelled {
            // Readiness hangs on the active keys; the others must not delay it.
            await ring.prove(olderThan: Self.freshness) { $0.isActive }
            release { $0.last = .now }
            await ring.prove(olderThan: Self.freshness) { !$0.isActive }
            let isMending = ring.slots.contains { $0.state.isDown }
            await doorbell.wait(atMost: isMending ? Self.pause : gateway.current.proofInterval)
        }
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
