import SigningKit
import Synchronization

/// An account's keys as requests meet them: which one signs what names no key, and which may be named. Kept in memory, and
/// looked up under a lock that is held for a few words of state; the register is nowhere on the way of a request.
final class AccountKeys: Sendable {
    struct Key: Equatable, Sendable {
        var state: KeyLifeState
        /// When a retiring key retires.
        var deadline: Deadline?

        init(_ record: KeyLifeRecord, state: KeyLifeState, deadline: Deadline?) {
            self.state = state
            self.deadline = deadline
        }
    }

    private struct State {
        var active: String?
        var keys: [String: Key] = [:]
        /// While one key takes another's place, who names none waits.
        var isShut = false
        /// Requests that name no key, between the choice of their key and their entry on the disk.
        var inFlight = 0
        var waiting: [Waiter] = []
        var drained: CheckedContinuation<Void, Never>?
        /// Whoever waited for that does not any more.
        var hasGivenUp = false
    }

    private struct Waiter: Sendable {
        let loop = RequestLoop.current
        let continuation: UnsafeContinuation<Void, Never>
    }

    private let state = Mutex(State())

    // MARK: For requests

    /// The key that signs for a request that names none; `leave()` has to follow.
    ///
    /// - Returns: nil when no key is active.
    func enter() async -> String? {
        while true {
            let (isShut, active) = state.withLock { state -> (Bool, String?) in
                if !state.isShut, state.active != nil { state.inFlight += 1 }
                return (state.isShut, state.active)
            }
            guard isShut else { return active }
            await withUnsafeContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isShut { state.waiting.append(Waiter(continuation: continuation)) }
                    return !state.isShut
                }
                if goesOn { continuation.resume() }
            }
        }
    }

    /// The request's entry is durable, or there will be none.
    func leave() {
        let drained = state.withLock { state in
            state.inFlight -= 1
            return state.inFlight == 0 ? state.drained.take() : nil
        }
        drained?.resume()
    }

    /// Nil for a key that has no state.
    func key(_ keyID: String) -> Key? { state.withLock { $0.keys[keyID] } }

    var activeKeyID: String? { state.withLock { $0.active } }

    // MARK: For changes

    /// What holds from the next request on.
    func set(active: String?, keys: [String: Key]) {
        state.withLock { state in
            state.active = active
            state.keys = keys
        }
    }

    /// Holds back requests that name no key, and returns when the last one that was under way has its entry on the disk, or
    /// `patience` is over.
    ///
    /// - Returns: whether all have theirs. `open()` has to follow in any case.
    func shut(patience: Duration) async -> Bool {
        state.withLock { $0.isShut = true }
        return await drained(patience: patience)
    }

    /// Returns when the last request that is under way, and names no key, has its entry on the disk, or `patience` is over.
    ///
    /// - Returns: whether all have theirs.
    func drained(patience: Duration) async -> Bool {
        let isIdle = state.withLock { state in
            state.hasGivenUp = false
            return state.inFlight == 0
        }
        if isIdle { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.drain()
                return true
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                return false
            }
            let isDrained = await group.next() ?? false
            group.cancelAll()
            state.withLock { state in
                state.hasGivenUp = true
                return state.drained.take()
            }?.resume()
            return isDrained
        }
    }

    private func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                let waits = state.inFlight > 0 && !state.hasGivenUp
                if waits { state.drained = continuation }
                return !waits
            }
            if isIdle { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isShut = false
            defer { state.waiting = [] }
            return state.waiting
        }
        RequestLoop.resume(waiting, from: \.loop) { waiting in for one in waiting { one.continuation.resume() } }
    }
}
