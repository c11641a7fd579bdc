import Synchronization

/// An asynchronous mutex. Urgent calls go first, and calls of one kind go in the order of arrival.
public final class AsyncMutex: Sendable {
    private struct State {
        var isTaken = false
        var urgent: [CheckedContinuation<Void, Never>] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var isTaken: Bool { state.withLock { $0.isTaken } }
    public var waitingCount: Int { state.withLock { $0.urgent.count + $0.waiting.count } }

    public func pass<Result>(isUrgent: Bool = false, _ body: () async -> Result) async -> Result {
        await enter(isUrgent: isUrgent)
        defer { leave() }
        return await body()
    }

    private func enter(isUrgent: Bool) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                if isUrgent { state.urgent.append(continuation) } else { state.waiting.append(continuation) }
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.urgent.isEmpty { return state.urgent.removeFirst() }
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
