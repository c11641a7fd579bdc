internal import SigningKit
internal import Synchronization

/// The tokens that are being opened. A hung call blocks its thread, and each further attempt would block another one.
enum OpenAttempts {
    private struct State {
        /// Of the last attempt.
        var number = 0
        /// By number; the times are in nanoseconds.
        var underWay: [Int: (locator: KeyLocator, begun: UInt64)] = [:]
    }

    private static let state = Mutex(State())

    /// - Parameter timeout: in milliseconds; an attempt that takes longer counts as hung.
    /// - Returns: the number of the attempt, for `end`.
    /// - Throws: `unavailable` while a hung attempt for the same locator continues.
    static func begin(_ locator: KeyLocator, timeout: Int) throws(KeyError) -> Int {
        let now = Clock.nanoseconds()
        let limit = UInt64(timeout) * 1_000_000
        return try state.withLock { state throws(KeyError) in
            guard !state.underWay.values.contains(where: { $0.locator == locator && now >= $0.begun + limit }) else {
                throw .unavailable(
                    "A call that opens \(locator.uri) still hangs. The next attempt waits for its return.")
            }
            state.number += 1
            state.underWay[state.number] = (locator, now)
            return state.number
        }
    }

    static func end(_ number: Int) {
        state.withLock { $0.underWay[number] = nil }
    }
}
