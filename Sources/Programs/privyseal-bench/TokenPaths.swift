import ArgumentParser
import Signing
import SigningKit

/// Measures the in-process path of a token key against a raw loop with as many threads.
struct TokenPaths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Races a token's pool, at several sizes and with many callers, against the raw loop at its best.")

    @OptionGroup var key: KeyOptions
    @OptionGroup var token: RawTokenOptions
    @OptionGroup var race: RaceOptions

    @Option(help: "The pool sizes, and numbers of threads of the raw loop.")
    var sizes = [1, 2, 3, 4]

    @Option(help: "The number of callers that sign at the same time.")
    var callers = 128

    func run() async throws {
        guard let raw = try token.open(threads: sizes.max() ?? 1) else {
            throw ValidationError("the raw loop found no token or key")
        }
        var gateways: [BenchGateway] = []
        for size in sizes { gateways.append(try await key.gateway(.off, sessions: size)) }
        let count = race.operations
        let contestants = sizes.map { size in { await raw.sign(count: count, threads: size) } as Stopwatch.Contestant }
        let ours = try gateways.map { try callers($0, count) }
        let rates = try await Stopwatch.race(rounds: race.rounds, contestants + ours)
        for gateway in gateways { await gateway.ring.close() }
        raw.close()
        report(rates)
    }

    private func callers(_ gateway: BenchGateway, _ count: Int) throws -> Stopwatch.Contestant {
        let route = try gateway.route("promotional-offer")
        let (callers, share) = (self.callers, max(1, count / self.callers))
        return {
            try await withThrowingTaskGroup { group in
                for _ in 0..<callers {
                    group.addTask {
                        for _ in 0..<share {
                            _ = try await gateway.dispatcher.sign(BenchGateway.jwsBody, for: route)
                        }
                    }
                }
                try await group.waitForAll()
            }
            return callers * share
        }
    }

    /// Compares the pool's best size with the raw loop's best number of threads.
    private func report(_ rates: [[Double]]) {
        let raw = Array(rates.prefix(sizes.count)), ours = Array(rates.dropFirst(sizes.count))
        let bestRaw = raw.indices.max { Stopwatch.median(raw[$0]) < Stopwatch.median(raw[$1]) } ?? 0
        let bestOurs = ours.indices.max { Stopwatch.median(ours[$0]) < Stopwatch.median(ours[$1]) } ?? 0
        var figures = [
            Figure(
                name:
                    "in process, SoftHSM, pool of \(sizes[bestOurs]), \(callers) callers (raw: \(sizes[bestRaw]) threads)",
                ours[bestOurs], of: raw[bestRaw], bar: 0.85)
        ]
        for (index, size) in sizes.enumerated() {
            figures.append(Figure(name: "  pool of \(size) against \(size) raw", ours[index], of: raw[index], bar: nil))
        }
        Figure.print(figures)
    }
}
