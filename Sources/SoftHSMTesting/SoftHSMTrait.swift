internal import Synchronization
public import Testing

/// Runs a suite's tests alone among all that use SoftHSM in this process: there is one SoftHSM to a process, and a
/// test that re-initialises it would take it from the others.
public struct SoftHSMTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite has no test case: only what runs inside of it takes its turn.
        guard testCase != nil else { return try await function() }
        await Turns.take()
        defer { Turns.pass() }
        try await function()
    }
}

extension Trait where Self == SoftHSMTrait {
    /// Alone among all tests that use SoftHSM.
    public static var softHSM: SoftHSMTrait { SoftHSMTrait() }
}

/// First come, first served.
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
