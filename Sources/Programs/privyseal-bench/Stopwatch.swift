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
                let rate = try await rate(contestant)
                // Round 0 only warms up.
                if round > 0 { rates[index].append(rate) }
            }
        }
        return rates
    }

    static func rate(_ contestant: Contestant) async throws -> Double {
        let start = ContinuousClock.now
        let count = try await contestant()
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
