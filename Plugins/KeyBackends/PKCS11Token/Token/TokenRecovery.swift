internal import PKCS11

struct TokenRecovery {
    private(set) var wantedWorkers = 0
    /// Signing workers for which the token has sessions, as far as is known.
    var workers = 0
    /// Consecutive times that the token had too few sessions.
    private var shortages = 0
    /// Whether a request for more sessions is scheduled.
    private var isGrowing = false
    var isScheduled = false
    /// Whether a search for a missing key is scheduled.
    var isSearching = false
    /// Attempts since the last interval of `peace` without one.
    var attempts = 0
    /// Time of the last attempt, in nanoseconds.
    var last: UInt64 = 0
    /// Sessions that no signing worker uses any more. They are closed when no call is in flight.
    var discarded: [Session] = []
    var isLost = false
    /// Whether the token has been closed.
    var isOver = false

    /// Between searches for a missing key while others sign, in milliseconds.
    static let searchPause = 2000
    /// After this time without an attempt, the delay starts again at 0; in nanoseconds.
    private static let quietInterval: UInt64 = 5_000_000_000

    /// Milliseconds until the next attempt: 0, then 100, 200, 400 … 5,000.
    mutating func delay(now: UInt64) -> Int {
        if now > last + Self.quietInterval, !isLost { attempts = 0 }
        return attempts == 0 ? 0 : min(100 << min(attempts - 1, 10), 5000)
    }

    /// A session was lost after it had signed: the measure that helped before may help again at once.
    mutating func noteLossOfGoodSession() {
        attempts = min(attempts, 1)
    }

    mutating func want(_ count: Int) {
        (wantedWorkers, workers) = (count, count)
    }

    /// Records that the token has too few sessions now.
    ///
    /// - Returns: milliseconds until the next request for more: 1,000, 2,000, 4,000 … 60,000; nil if one is scheduled.
    mutating func settle(for count: Int) -> Int? {
        workers = count
        guard !isGrowing else { return nil }
        isGrowing = true
        defer { shortages += 1 }
        return min(1000 << min(shortages, 10), 60_000)
    }

    mutating func grow() {
        isGrowing = false
        workers = wantedWorkers
    }

    /// Call this when every signing worker has a session.
    mutating func noteComplete() {
        if workers == wantedWorkers { shortages = 0 }
    }
}
