import SigningKit
import Synchronization

/// Wakes the waiting task after the last of `count` calls of `arrive`.
final class CompletionCounter: Sendable {
    private let remaining: Mutex<Int>
    private let signal = AsyncSignal()

    init(_ count: Int) {
        remaining = Mutex(count)
    }

    func arrive() {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { signal.signal() }
    }

    func wait(atMost limit: Duration) async { await signal.wait(atMost: limit) }
}
