public import ServiceLifecycle
import SigningKit
import Synchronization

/// Monitors the current ring: opens its keys and makes them sign proofs at intervals. It answers readiness from the
/// last proofs. A query costs at most one proof a second for each key, and no login.
public final class KeyRingMonitor: Service {
    private let gateway: SnapshotHolder
    private let afterOpening: @Sendable () throws -> Void
    private let signal = AsyncSignal()
    /// The signal that a proof has ended.
    private let proofs = AsyncSignal()
    private let rounds = Mutex(Rounds())

    private struct Rounds {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var last: ContinuousClock.Instant?
        var isStopped = false
    }

    /// The maximum age of the proofs for an answer of `/readyz`.
    private static let freshness = Duration.seconds(1)
    /// The time between attempts to open keys.
    private static let pause = Duration.seconds(1)

    /// - Parameter afterOpening: called once, after the first attempt for every key. Its error ends the monitor.
    public init(_ gateway: SnapshotHolder, afterOpening: @escaping @Sendable () throws -> Void = {}) {
        self.gateway = gateway
        self.afterOpening = afterOpening
    }

    public func run() async throws {
        defer { release { $0.isStopped = true } }
        // Two tasks: a token that opens slowly must not delay the proofs of other keys.
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup { group in
                group.addTask { try await self.openKeys() }
                group.addTask { await self.proveKeys() }
                while try await group.next() != nil {}
            }
        }
    }

    /// Every key, with a state that is at most a second old.
    public func report() async -> [KeyHandle] {
        await withCheckedContinuation { continuation in
            let isFresh = rounds.withLock { rounds in
                if rounds.isStopped { return true }
                if let last = rounds.last, .now - last < Self.freshness { return true }
                rounds.waiting.append(continuation)
                return false
            }
            if isFresh { continuation.resume() } else { signal.signal() }
        }
        return ring.handles
    }

    private var ring: KeyRing { gateway.current.ring }

    private func openKeys() async throws {
        await ring.openMissing()
        try afterOpening()
        invalidate()
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.pause)
            if await ring.openMissing() { invalidate() }
            for handle in ring.handles { handle.compareWithRegister() }
        }
    }

    /// Discards the last results. Call it when a key was opened, or when another ring serves.
    public func invalidate() {
        rounds.withLock { $0.last = nil }
        signal.signal()
    }

    private func proveKeys() async {
        // A proof at a token that hangs outlasts its round: the other places of the key must answer meanwhile.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                // Readiness depends on the active keys. The others must not delay it.
                await prove(in: &group) { $0.isActive }
                release { $0.last = .now }
                await prove(in: &group) { !$0.isActive }
                await waitForNextRound()
            }
        }
    }

    /// A round follows after the interval, after a signal, or within a second if a place is down. A request can find that
    /// a place is down at any time.
    private func waitForNextRound() async {
        let end = ContinuousClock.now + gateway.current.proofInterval
        while !Task.isCancelled, .now < end {
            if await signal.wait(atMost: min(end - .now, Self.pause)) { return }
            if ring.handles.contains(where: { $0.replicas.contains { $0.state.isDown } }) { return }
        }
    }

    /// Starts the proofs that are due. Returns when each key has an answer: one of its places can sign, or none has a
    /// proof in progress.
    private func prove(in group: inout DiscardingTaskGroup, where isWanted: (KeyHandle) -> Bool) async {
        let ring = ring
        await ring.noteHealth()
        let handles = ring.handles.filter(isWanted)
        for handle in handles {
            for replica in handle.replicas
            where replica.isProofDue(olderThan: Self.freshness) && replica.beginProof() {
                group.addTask {
                    await handle.prove(at: replica)
                    replica.endProof()
                    self.proofs.signal()
                }
            }
        }
        while handles.contains(where: \.isWaitingForProof), !Task.isCancelled {
            await proofs.wait(atMost: Self.pause)
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
