import Synchronization

/// Wakes the task that waits. If no task waits, the next call of `wait` returns at once. One task may wait at a time.
public final class AsyncSignal: Sendable {
    private let state = Mutex(State.quiet)

    public init() {}

    private enum State {
        case quiet
        case signaled
        case awaited(CheckedContinuation<Void, Never>)
    }

    public func signal() { wake(remember: true) }

    /// Returns after `signal()`, after `duration`, or when the task is cancelled.
    ///
    /// - Returns: false after `duration`.
    @discardableResult
    public func wait(atMost duration: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await Task.sleep(for: duration)
                return false
            }
            group.addTask {
                await self.wait()
                return true
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
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

/// An event that happens once. Tasks wait for it.
public final class AsyncEvent: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    public init() {}

    /// Resumes all waiting tasks. Later calls have no effect.
    public func happen() {
        let waiting = state.withLock { state in
            state.hasHappened = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns after `happen`. A cancelled task waits, too.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                if !state.hasHappened { state.waiting.append(continuation) }
                return state.hasHappened
            }
            if hasHappened { continuation.resume() }
        }
    }
}
