internal import SigningKit

/// The pause of a key that does not sign although its token does, so that it costs the other keys no sessions. After
/// the pause, one request tries the key again.
struct KeyFailurePause {
    private(set) var error: KeyError
    /// In nanoseconds.
    private var pause: UInt64
    private var until: UInt64
    private var isTried = false

    /// 100, 200, 400 ms … 60 s.
    static let shortest: UInt64 = 100_000_000
    /// The first pause after a call that hung: each trial may block a session for as long as that call.
    static let shortestAfterHang: UInt64 = 1_000_000_000
    private static let longest: UInt64 = 60_000_000_000

    init(_ error: KeyError, at now: UInt64, pause: UInt64) {
        self.error = error
        self.pause = pause
        until = now + pause
    }

    /// - Returns: whether the pause became longer. Requests that waited when the key began to fail do not extend it.
    mutating func extend(_ error: KeyError, at now: UInt64) -> Bool {
        self.error = error
        guard isTried else { return false }
        pause = min(2 * pause, Self.longest)
        until = now + pause
        return true
    }

    /// - Returns: whether the caller may try the key. Other requests are refused until `endTrial`.
    mutating func beginTrial(at now: UInt64) -> Bool {
        guard now >= until, !isTried else { return false }
        isTried = true
        return true
    }

    mutating func endTrial() {
        isTried = false
    }

    /// The operator orders a trial: the next request may try the key.
    mutating func shorten(at now: UInt64) {
        until = min(until, now)
        pause = min(pause, Self.shortest)
    }
}
