internal import SigningKit
internal import Synchronization

/// The tokens that are being opened. A hung call blocks its thread, and each further attempt would block another one.
enum OpenAttempts {
    struct OpenAttempt: Hashable {
        fileprivate let locator: KeyLocator
        /// In nanoseconds.
        fileprivate let begun: UInt64
        fileprivate let number: UInt64
    }

    private static let underWay = Mutex<Set<OpenAttempt>>([])
    private static let numbers = Atomic<UInt64>(0)

    /// - Parameter timeout: in milliseconds; an attempt that takes longer counts as hung.
    /// - Throws: `unavailable` while a hung attempt for the same locator continues.
    static func begin(_ locator: KeyLocator, timeout: Int) throws(KeyError) -> OpenAttempt {
        let now = Clock.nanoseconds()
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        let openAttempt = OpenAttempt(locator: locator, begun: now, number: number)
        let isHung = underWay.withLock { underWay in
            let limit = UInt64(timeout) * 1_000_000
            if underWay.contains(where: { $0.locator == locator && now >= $0.begun + limit }) { return true }
            underWay.insert(openAttempt)
            return false
        }
        guard !isHung else {
            throw .unavailable("A call that opens \(locator.uri) still hangs. The next attempt waits for its return.")
        }
        return openAttempt
    }

    static func end(_ openAttempt: OpenAttempt) {
        underWay.withLock { _ = $0.remove(openAttempt) }
    }
}
