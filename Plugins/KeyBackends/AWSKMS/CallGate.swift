import SigningKit
import Synchronization

/// Counts the signatures in progress: refuses those beyond a limit, and waits for the rest when the backend closes.
final class CallGate: Sendable {
    private struct State {
        var inProgress = 0
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())
    /// The backend is closed, and no signature is in progress.
    private let ended = AsyncEvent()

    init(limit: Int) {
        self.limit = limit
    }

    var inProgress: Int { state.withLock { $0.inProgress } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func pass<Value>(_ body: () async throws(KeyError) -> Value) async throws(KeyError) -> Value {
        try enter()
        defer { leave() }
        return try await body()
    }

    private func enter() throws(KeyError) {
        try state.withLock { state throws(KeyError) in
            guard !state.isClosed else { throw .closed }
            guard state.inProgress < limit else { throw .busy }
            state.inProgress += 1
        }
    }

    private func leave() {
        let isLast = state.withLock { state in
            state.inProgress -= 1
            return state.isClosed && state.inProgress == 0
        }
        if isLast { ended.happen() }
    }

    func close() async {
        let isIdle = state.withLock { state in
            state.isClosed = true
            return state.inProgress == 0
        }
        if isIdle { ended.happen() }
        await ended.wait()
    }
}
