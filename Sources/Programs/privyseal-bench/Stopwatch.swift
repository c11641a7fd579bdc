/// Measures operations per second in turns. On a noisy machine, two rates are comparable only if measured at the same
/// time. So every contestant runs a little in each round, and ratios are computed within a round.
struct Stopwatch {
    /// Performs some operations and returns their number.
    typealias Contestant = () async throws -> Int

    /// - Returns: for each contestant, the operations per second of each round.
    static func race(rounds: Int, _ contestants: [Contestant]) async throws -> [[Double]] {
        var rates = [[Double]](repeating: [], count: contestants.count)
        for round in 0...rounds {
            for (index, contestant) in contestants.enumerated() {
                let start = ContinuousClock.now
                let count = try await contestant()
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                // Round 0 only warms up.
                if round > 0 { rates[index].append(Double(count) / seconds) }
            }
        }
        return rates
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : min(sorted[middle], last)
    }

    /// The median of the rounds' ratios.
    static func ratio(_ rates: [Double], of limit: [Double]) -> Double {
        median(zip(rates, limit).map { $0 / $1 })
    }
}
