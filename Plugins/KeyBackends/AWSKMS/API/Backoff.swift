/// The pauses between attempts: exponential, with full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter").
struct Backoff: Sendable {
    private var attemptsLeft: Int
    private var limit = Duration.milliseconds(50)

    /// The longest pause.
    private static let longest = Duration.milliseconds(800)

    /// - Parameter attempts: with the first one, which needs no pause.
    init(attempts: Int) {
        attemptsLeft = attempts - 1
    }

    /// Whether no attempt follows.
    var isLast: Bool { attemptsLeft <= 0 }

    /// The pause before the next attempt; nil if there must be none.
    mutating func next() -> Duration? {
        guard attemptsLeft > 0 else { return nil }
        attemptsLeft -= 1
        defer { limit = min(limit * 2, Self.longest) }
        return limit * Double.random(in: 0...1)
    }
}
