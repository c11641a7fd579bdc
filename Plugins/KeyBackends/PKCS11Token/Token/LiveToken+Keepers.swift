internal import Logging
internal import SigningKit
internal import Synchronization

/// Who looks after a token.
struct Keepers {
    var current: Worker
    /// Those before it, whose calls hung.
    var replaced = 0
    /// Whether somebody looks after it in turn.
    var isWatched = false

    /// With so many of them hanging no more are made.
    static let limit = 3
}

/// A call of the keeper may hang as well; then another keeper takes over.
extension LiveToken {
    var keeper: Worker { keepers.withLock { $0.current } }

    /// On whichever keeper is at work then.
    func keep(after milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
        // With the lock held, so that what is left to a keeper that is being replaced goes to the next.
        keepers.withLock { $0.current.run(after: milliseconds, body) }
    }

    /// On the keeper, at the beginning of what it does: looks whether it hangs until it is done.
    func watchKeeper() {
        let isNews = keepers.withLock { keepers in
            defer { keepers.isWatched = true }
            return !keepers.isWatched
        }
        if isNews { look() }
    }

    private func look() {
        watch.run(after: min(max(settings.timeout / 8, 50), 1000)) { [self] in
            let (keeper, time) = keepers.withLock { keepers in
                let time = keepers.current.busyFor
                if time == nil { keepers.isWatched = false }
                return (keepers.current, time)
            }
            guard let time else { return }
            if time > UInt64(settings.timeout) * 1_000_000 { replace(keeper) }
            look()
        }
    }

    /// On the watch.
    private func replace(_ keeper: Worker) {
        let count = keepers.withLock { $0.replaced }
        guard count < Keepers.limit, !mending.withLock({ $0.isOver }) else { return }
        log.error(
            "A call that mends the token \(connection.name) took longer than \(settings.timeout / 1000) s",
            metadata: ["hanging": "\(count + 1)", "limit": "\(Keepers.limit)"])
        let successor = Worker()
        guard successor.start("privyseal-keep") else { return }
        keepers.withLock { keepers in
            keepers.current = successor
            keepers.replaced += 1
        }
        // When the call is back after all, its thread goes, and another one may be replaced.
        keeper.atEnd { [self] in keepers.withLock { $0.replaced -= 1 } }
        keeper.handOver(to: successor)
        schedule()
    }
}
