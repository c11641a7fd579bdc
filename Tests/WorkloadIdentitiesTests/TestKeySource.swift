import Synchronization

@testable import WorkloadIdentities

/// A key set that a test changes, and whose reads it can hold back.
final class TestKeySource: KeySetSource {
    private struct State {
        var result: Result<[UInt8], KeySetError>
        var reads = 0
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ keys: [TestKey]) {
        state = Mutex(State(result: .success(json(keys.map(\.jwk)))))
    }

    /// How often the keys were read.
    var reads: Int { state.withLock { $0.reads } }

    func publish(_ keys: [TestKey]) { state.withLock { $0.result = .success(json(keys.map(\.jwk))) } }

    func fail(_ error: KeySetError) { state.withLock { $0.result = .failure(error) } }

    func hold() { state.withLock { $0.isHeld = true } }

    func letGo() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHeld = false
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func read() async throws(KeySetError) -> [UInt8] {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                state.reads += 1
                if state.isHeld { state.held.append(continuation) }
                return state.isHeld
            }
            if !mustWait { continuation.resume() }
        }
        return try state.withLock { $0.result }.get()
    }
}
