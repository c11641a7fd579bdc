internal import SigningKit

/// A key that does not sign while other keys of its token do. It is left alone for a while, so that it costs the others
/// no sessions; then one signature tries it again.
struct KeyIllness {
    private(set) var error: KeyError
    /// In nanoseconds.
    private(set) var pause = shortest
    private(set) var until: UInt64

    /// 1, 2, 4 … 60 s.
    private static let shortest: UInt64 = 1_000_000_000
    private static let longest: UInt64 = 60_000_000_000

    init(_ error: KeyError, at now: UInt64) {
        self.error = error
        until = now + Self.shortest
    }

    /// It failed once more.
    mutating func extend(_ error: KeyError, at now: UInt64) {
        self.error = error
        pause = min(2 * pause, Self.longest)
        until = now + pause
    }

    /// - Returns: whether the caller may try the key; the others wait for what comes of it.
    mutating func admits(at now: UInt64) -> Bool {
        guard now >= until else { return false }
        until = now + pause
        return true
    }
}
