internal import SigningKit

/// A key that does not sign while its token does. It is left alone for a while, so that it costs the other keys no
/// sessions; then one request tries it again.
struct KeyIllness {
    private(set) var error: KeyError
    /// In nanoseconds.
    private var pause: UInt64
    private var until: UInt64
    /// Whether a request is trying the key now.
    private var isTried = false

    /// 100, 200, 400 ms … 60 s.
    static let shortest: UInt64 = 100_000_000
    /// After a call that hung: each trial may hold a session for as long.
    static let shortestAfterHang: UInt64 = 1_000_000_000
    private static let longest: UInt64 = 60_000_000_000

    init(_ error: KeyError, at now: UInt64, pause: UInt64) {
        self.error = error
        self.pause = pause
        until = now + pause
    }

    /// It failed once more. Requests that waited while it fell ill do not make the pause longer.
    ///
    /// - Returns: whether the pause became longer.
    mutating func extend(_ error: KeyError, at now: UInt64) -> Bool {
        self.error = error
        guard isTried else { return false }
        pause = min(2 * pause, Self.longest)
        until = now + pause
        return true
    }

    /// - Returns: whether the caller may try the key; the other requests are refused until `endTrial`.
    mutating func beginTrial(at now: UInt64) -> Bool {
        guard now >= until, !isTried else { return false }
        isTried = true
        return true
    }

    mutating func endTrial() {
        isTried = false
    }

    /// A person asks for it: the next request may try the key.
    mutating func shorten(at now: UInt64) {
        until = min(until, now)
        pause = min(pause, Self.shortest)
    }
}
