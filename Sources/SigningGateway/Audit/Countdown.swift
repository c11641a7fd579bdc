import Synchronization

/// Rings when the last of several has come.
final class Countdown: Sendable {
    private let remaining: Mutex<Int>
    private let doorbell = Doorbell()

    init(_ count: Int) {
        remaining = Mutex(count)
    }

    func arrive() {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { doorbell.ring() }
    }

    func wait(atMost limit: Duration) async { await doorbell.wait(atMost: limit) }
}
