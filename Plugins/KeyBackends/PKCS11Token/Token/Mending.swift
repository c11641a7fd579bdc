internal import PKCS11

/// What is known about mending a token.
struct Mending {
    /// How many there should be.
    private(set) var wantedLanes = 0
    /// How many the token has sessions for, as far as is known.
    var lanes = 0
    /// How often in a row it had too few.
    private var shortages = 0
    /// Whether it will be asked for more.
    private var isGrowing = false
    /// Whether an attempt is under way or will be.
    var isScheduled = false
    /// Whether a missing key will be sought.
    var isSearching = false
    /// Attempts since the token was last at peace.
    var attempts = 0
    /// Of the last attempt, in nanoseconds.
    var last: UInt64 = 0
    /// Sessions that nobody signs with any more. They are closed when no call is in flight.
    var discarded: [Session] = []
    var isLost = false
    /// Whether everything was given back.
    var isOver = false

    /// Between searches for a missing key while others sign, in milliseconds.
    static let searchPause = 2000
    /// After so long without an attempt the token is at peace, in nanoseconds.
    private static let peace: UInt64 = 5_000_000_000

    /// Milliseconds until the next attempt: at once, then 100, 200, 400 … 5,000.
    mutating func delay(now: UInt64) -> Int {
        if now > last + Self.peace, !isLost { attempts = 0 }
        return attempts == 0 ? 0 : min(100 << min(attempts - 1, 10), 5000)
    }

    /// A session was lost after it had signed: what helped before may help at once again.
    mutating func noteLossOfGoodSession() {
        attempts = min(attempts, 1)
    }

    mutating func want(_ count: Int) {
        (wantedLanes, lanes) = (count, count)
    }

    /// The token has too few sessions now.
    ///
    /// - Returns: milliseconds until it should be asked for more, 1,000, 2,000, 4,000 … 60,000; nil when it will be
    ///   asked anyway.
    mutating func settle(for count: Int) -> Int? {
        lanes = count
        guard !isGrowing else { return nil }
        isGrowing = true
        defer { shortages += 1 }
        return min(1000 << min(shortages, 10), 60_000)
    }

    mutating func grow() {
        isGrowing = false
        lanes = wantedLanes
    }

    /// As many as there should be have a session.
    mutating func noteComplete() {
        if lanes == wantedLanes { shortages = 0 }
    }
}
