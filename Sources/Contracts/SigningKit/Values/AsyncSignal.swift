import Synchronization

/// Wakes the task that waits. If no task waits, the next call of `wait` returns at once.
public final class AsyncSignal: Sendable {
    private let state = Mutex(State.quiet)

    public init() {}

    private enum State {
        case quiet
        case signaled
        case awaited(CheckedContinuation<Void, Never>)
    }

    public func signal() {
        wake(remember: true)
    }

    /// Returns after `signal()`, after `duration`, or when the task is cancelled.
    public func wait(atMost duration: Duration) async {
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: duration) }
            group.addTask { await self.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignaled = state.withLock { state in
                    if case .signaled = state {
                        state = .quiet
                        return true
                    }
                    if Task.isCancelled { return true }
                    state = .awaited(continuation)
                    return false
                }
                if isSignaled { continuation.resume() }
            }
        } onCancel: {
            wake(remember: false)
        }
    }

    private func wake(remember: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let continuation) = state else {
                if remember { state = .signaled }
                return nil
            }
            state = .quiet
            return continuation
        }
        waiter?.resume()
    }
}
