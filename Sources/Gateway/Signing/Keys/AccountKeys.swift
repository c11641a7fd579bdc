package import AuditLog
import SigningKit
import Synchronization

/// The key states of an account for requests: the active key, and the keys that requests may name. They are in memory
/// under a short lock, so that a request does not read the register.
public final class AccountKeys: Sendable {
    package struct Key: Equatable, Sendable {
        var state: KeyLifecycleState
        /// When a retiring key retires.
        var deadline: Deadline?

        package init(state: KeyLifecycleState, deadline: Deadline?) {
            self.state = state
            self.deadline = deadline
        }
    }

    private struct State {
        var active: String?
        var keys: [String: Key] = [:]
        /// The number of changes of the active key for which requests that name no key wait.
        var pauses = 0
        /// When the active key changes, if that is known. Requests wait from then on, until the change is made.
        var changesAt: ContinuousClock.Instant?
        var isPaused: Bool { pauses > 0 || (changesAt.map { $0 <= .now } ?? false) }

        /// The requests that need not wait any more.
        mutating func takeWaiting() -> [UnsafeContinuation<Void, Never>] {
            guard !isPaused else { return [] }
            defer { waiting = [] }
            return waiting
        }
        /// The number of requests that name no key and have selected their key, but have no durable entry yet.
        var inFlight = 0
        var waiting: [UnsafeContinuation<Void, Never>] = []
        /// The tasks that wait until `inFlight` is zero.
        var idle: [AsyncSignal] = []
    }

    private let state = Mutex(State())
    package init() {}

    // MARK: For requests

    /// Selects the key for a request that names none.
    ///
    /// - Returns: the key ID, after which the caller must call `leave()`; nil if no key is active.
    func enter() async -> String? {
        while true {
            let (isPaused, active) = state.withLock { state -> (Bool, String?) in
                if !state.isPaused, state.active != nil { state.inFlight += 1 }
                return (state.isPaused, state.active)
            }
            guard isPaused else { return active }
            await withUnsafeContinuation { continuation in
                let isImmediate = state.withLock { state in
                    if state.isPaused { state.waiting.append(continuation) }
                    return !state.isPaused
                }
                if isImmediate { continuation.resume() }
            }
        }
    }

    /// Call it when the request's entry is durable or will not be written.
    func leave() {
        let waiting = state.withLock { state -> [AsyncSignal] in
            state.inFlight -= 1
            return state.inFlight == 0 ? state.idle : []
        }
        for signal in waiting { signal.signal() }
    }

    /// Nil for a key without a state.
    func key(_ keyID: String) -> Key? { state.withLock { $0.keys[keyID] } }

    var activeKeyID: String? { state.withLock { $0.active } }

    // MARK: For changes

    /// - Parameter changesAt: when the active key changes, if that is known.
    package func set(active: String?, keys: [String: Key], changesAt: ContinuousClock.Instant? = nil) {
        let waiting = state.withLock { state in
            (state.active, state.keys, state.changesAt) = (active, keys, changesAt)
            return state.takeWaiting()
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Makes later requests that name no key wait. `open()` must follow in any case.
    package func pause() { state.withLock { $0.pauses += 1 } }

    /// `pause`, and then `drained`.
    package func shut(timeout: Duration) async -> Bool {
        pause()
        return await drained(timeout: timeout)
    }

    /// Waits until all requests in progress that name no key have durable entries.
    ///
    /// - Returns: false after `timeout`, or if the task is cancelled.
    package func drained(timeout: Duration) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        let signal = AsyncSignal()
        state.withLock { $0.idle.append(signal) }
        defer { state.withLock { $0.idle.removeAll { $0 === signal } } }
        while state.withLock({ $0.inFlight > 0 }) {
            let rest = deadline - .now
            guard rest > .zero, !Task.isCancelled else { return false }
            await signal.wait(atMost: rest)
        }
        return true
    }

    package func open() {
        let waiting = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
            state.pauses = max(0, state.pauses - 1)
            return state.takeWaiting()
        }
        for waiter in waiting { waiter.resume() }
    }
}
