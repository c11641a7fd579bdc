internal import SigningKit
internal import Synchronization

/// Tokens that are being opened. A call that hangs holds its thread for as long as it likes; whoever tries again
/// meanwhile would lose another one.
enum Openings {
    struct Opening: Hashable {
        fileprivate let locator: KeyLocator
        /// In nanoseconds.
        fileprivate let begun: UInt64
        fileprivate let number: UInt64
    }

    private static let underWay = Mutex<Set<Opening>>([])
    private static let numbers = Atomic<UInt64>(0)

    /// - Parameter timeout: in milliseconds, after which an opening is taken to hang.
    /// - Throws: `unavailable` while one that hangs is under way.
    static func begin(_ locator: KeyLocator, timeout: Int) throws(KeyError) -> Opening {
        let now = Clock.nanoseconds()
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        let opening = Opening(locator: locator, begun: now, number: number)
        let isHung = underWay.withLock { underWay in
            let limit = UInt64(timeout) * 1_000_000
            if underWay.contains(where: { $0.locator == locator && now >= $0.begun + limit }) { return true }
            underWay.insert(opening)
            return false
        }
        guard !isHung else {
            throw .unavailable("A call that opens \(locator.uri) still hangs. It is tried again when that is back.")
        }
        return opening
    }

    static func end(_ opening: Opening) {
        underWay.withLock { _ = $0.remove(opening) }
    }
}
