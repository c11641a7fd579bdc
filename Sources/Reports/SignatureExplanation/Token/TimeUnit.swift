/// The unit of a time since 1970, which the size of the number shows.
enum TimeUnit: String {
    case seconds, milliseconds, microseconds, nanoseconds

    /// Nil for a number below 1,000,000,000, which is no present time in any unit.
    init?(of time: Int64) {
        switch time {
        case ..<1_000_000_000: return nil
        case ..<100_000_000_000: self = .seconds
        case ..<100_000_000_000_000: self = .milliseconds
        case ..<100_000_000_000_000_000: self = .microseconds
        default: self = .nanoseconds
        }
    }
}

extension [Finding] {
    /// A finding about a claim `iat` or `exp` that is not in seconds.
    ///
    /// - Parameter unit: Nil for a time before 2001.
    mutating func addTime(_ time: Int64, in unit: TimeUnit?, claim: String) {
        let code: FindingCode =
            switch unit {
            case _ where claim == "exp": .expRange
            case nil, .seconds: .iatRange
            case .milliseconds: .iatMilliseconds
            case .microseconds, .nanoseconds: .iatFiner
            }
        let detail =
            unit.map { "that is in \($0.rawValue), and \"\(claim)\" counts seconds" }
            ?? "a moment before 2001, read as seconds since 1970"
        add(code, in: claim, "The claim \"\(claim)\" is \(time): \(detail).")
    }
}
