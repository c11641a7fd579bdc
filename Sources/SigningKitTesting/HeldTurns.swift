import Synchronization

/// Stands for an event loop whose turn ends when a test says so.
public final class HeldTurns: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var count: Int { state.withLock { $0.work.count } }

    public func add(_ work: @escaping @Sendable () -> Void) {
        let reached = state.withLock { state in
            state.work.append(work)
            let count = state.work.count
            defer { state.watchers.removeAll { $0.count <= count } }
            return state.watchers.filter { $0.count <= count }
        }
        for watcher in reached { watcher.continuation.resume() }
    }

    /// Returns when so much is to be done.
    public func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.work.count < count { state.watchers.append((count, continuation)) }
                return state.work.count >= count
            }
            if isReached { continuation.resume() }
        }
    }

    /// Does all that there is, in order.
    public func run() {
        let work = state.withLock { state in
            defer { state.work = [] }
            return state.work
        }
        for body in work { body() }
    }
}
