import ArgumentParser

/// How long something lasts, as people write it: a whole number with `s`, `m`, `h` or `d`.
struct KeySpan: ExpressibleByArgument, Equatable, CustomStringConvertible {
    let seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// Nil for anything else, and for a million days and more.
    init?(argument: String) {
        guard let unit = argument.last.flatMap({ mark in Self.units.first { $0.mark == mark } }),
            (2...7).contains(argument.utf8.count), argument.dropLast().allSatisfy({ ("0"..."9").contains($0) }),
            let count = Int(argument.dropLast())
        else { return nil }
        seconds = count * unit.seconds
    }

    /// In the largest unit of which it is a whole number.
    var description: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 && seconds >= $0.seconds }
        return unit.map { "\(seconds / $0.seconds)\($0.mark)" } ?? "\(seconds)s"
    }

    private static let units: [(mark: Character, seconds: Int)] = [
        ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]
}
