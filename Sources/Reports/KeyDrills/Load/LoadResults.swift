import SigningKit
import Synchronization

/// All answers in order of arrival, and the tasks that wait for a matching one.
public final class LoadResults: Sendable {
    private struct Waiter {
        let matches: @Sendable (LoadAnswer) -> Bool
        let continuation: CheckedContinuation<LoadAnswer?, Never>
    }

    private struct State {
        var answers: [LoadAnswer] = []
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var isOver = false
    }

    private let state = Mutex(State())

    public init() {}

    public var answers: [LoadAnswer] { state.withLock { $0.answers } }

    public func record(_ answer: LoadAnswer) {
        let done = state.withLock { state -> [Waiter] in
            state.answers.append(answer)
            let numbers = state.waiters.filter { $0.value.matches(answer) }.map(\.key)
            return numbers.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in done { waiter.continuation.resume(returning: answer) }
    }

    /// Ends the recording: waiting tasks get nil.
    public func close() {
        let done = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in done { waiter.continuation.resume(returning: nil) }
    }

    /// The first matching answer, already recorded or arriving within `limit`; nil if there is none.
    public func first(
        within limit: Duration, where matches: @escaping @Sendable (LoadAnswer) -> Bool
    ) async -> LoadAnswer? {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskGroup(of: LoadAnswer?.self) { group in
            group.addTask { await self.wait(number, matches) }
            group.addTask {
                try? await Task.sleep(for: limit)
                self.abandon(number)
                return nil
            }
            let answer = await group.next() ?? nil
            group.cancelAll()
            abandon(number)
            return answer
        }
    }

    private func wait(_ number: Int, _ matches: @escaping @Sendable (LoadAnswer) -> Bool) async -> LoadAnswer? {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> LoadAnswer?? in
                if let answer = state.answers.first(where: matches) { return .some(answer) }
                if state.isOver { return .some(nil) }
                state.waiters[number] = Waiter(matches: matches, continuation: continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func abandon(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: nil)
    }
}
