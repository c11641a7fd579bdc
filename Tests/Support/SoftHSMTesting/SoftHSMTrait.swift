import Synchronization
public import Testing

/// Runs each test of a suite alone among all tests in this process that use SoftHSM, and without the tokens of earlier
/// tests, which SoftHSM would read again and again. SoftHSM has one state per process: a test that re-initializes it would
/// break the others.
public struct SoftHSMTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    @concurrent
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // `testCase` is nil for the suite itself; only its tests take the lock.
        guard testCase != nil else { return try await function() }
        await Turns.take()
        defer { Turns.pass() }
        try SoftHSM.shared.get().removeTokens()
        try await function()
    }
}

extension Trait where Self == SoftHSMTrait {
    /// Runs each test alone among all tests that use SoftHSM, and without tokens.
    public static var softHSM: SoftHSMTrait { SoftHSMTrait() }
}

/// A first-in, first-out asynchronous lock.
private enum Turns {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Mutex(State())

    static func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if !state.isTaken {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    static func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
