/// A timestamp's text, read as a number in seconds, milliseconds or a finer unit.
struct LegacyTimestamp: Sendable {
    enum Unit: Sendable {
        case seconds, milliseconds, finer
    }

    /// The integer part.
    let whole: Int64
    /// False if the text has a fraction or an exponent.
    let isWhole: Bool

    /// Nil if the text is not a number, or is a time before 1970.
    init?(_ text: String) {
        if let whole = Int64(text), whole >= 0, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }) {
            (self.whole, isWhole) = (whole, true)
        } else if let number = Double(text), number >= 0, number < 1e18 {
            (whole, isWhole) = (Int64(number), false)
        } else {
            return nil
        }
    }

    /// Determined by the size: 10^11 s is in the year 5138, and 10^11 ms in 1973.
    var unit: Unit {
        switch whole {
        case ..<100_000_000_000: .seconds
        case ..<100_000_000_000_000: .milliseconds
        default: .finer
        }
    }
}
