import Synchronization

/// Wakes the task that waits. If no task waits, the next call of `wait` returns at once.
final class AsyncSignal: Sendable {
    private let state = Mutex(State.quiet)

    private enum State {
        case quiet
        case rung
        case awaited(CheckedContinuation<Void, Never>)
    }

    func ring() {
        wake(remember: true)
    }

    /// Returns after `ring()`, after `duration`, or when the task is cancelled.
    func wait(atMost duration: Duration) async {
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
                let hasRung = state.withLock { state in
                    if case .rung = state {
                        state = .quiet
                        return true
                    }
                    if Task.isCancelled { return true }
                    state = .awaited(continuation)
                    return false
                }
                if hasRung { continuation.resume() }
            }
        } onCancel: {
            wake(remember: false)
        }
    }

    private func wake(remember: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let continuation) = state else {
                if remember { state = .rung }
                return nil
            }
            state = .quiet
            return continuation
        }
        waiter?.resume()
    }
}
