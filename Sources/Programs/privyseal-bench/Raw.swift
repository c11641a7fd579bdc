import ArgumentParser
import Foundation
import StrictJSON

/// Measures only the limits, for benchmarks that run outside this process.
struct Raw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints raw signatures per second: libcrypto on all cores, and the token's best rate.")

    @OptionGroup var token: RawTokenOptions
    @Option(help: "The number of operations of each.")
    var operations = 20_000

    func run() async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let keys = (0..<cores).compactMap { _ in RawLibCrypto() }
        let count = operations
        let libcrypto = try await Stopwatch.race(
            rounds: 1,
            [
                {
                    await withTaskGroup { group in
                        for key in keys { group.addTask { key.sign(count: count) } }
                    }
                    return count * keys.count
                }
            ])
        var best = 0.0
        if let raw = try token.open(threads: cores) {
            for threads in 1...cores {
                let rate = try await Stopwatch.race(rounds: 1, [{ await raw.sign(count: count, threads: threads) }])
                best = max(best, rate[0][0])
            }
            raw.close()
        }
        Swift.print(JSONText.string(["libcrypto": Int(libcrypto[0][0]), "token": Int(best)]))
    }
}
