import ArgumentParser

/// A duration as people write it: a whole number with `s`, `m`, `h` or `d`.
struct DurationArgument: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// Nil for other text, and for numbers with more than six digits.
    init?(argument: String) {
        guard let unit = argument.last.flatMap({ mark in Self.units.first { $0.mark == mark } }),
            (2...7).contains(argument.utf8.count), argument.dropLast().allSatisfy({ ("0"..."9").contains($0) }),
            let count = Int(argument.dropLast())
        else { return nil }
        seconds = count * unit.seconds
    }

    /// In the largest unit that divides the duration.
    var description: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 && seconds >= $0.seconds }
        return unit.map { "\(seconds / $0.seconds)\($0.mark)" } ?? "\(seconds)s"
    }

    private static let units: [(mark: Character, seconds: Int)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]
}
