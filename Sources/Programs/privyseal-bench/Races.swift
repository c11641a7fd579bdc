import ArgumentParser
import Foundation
import Signing
import StrictJSON

/// Races the in-process paths of a file key against raw libcrypto, on one thread. Prints the rates of each round.
struct FilePaths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Races the signing paths of a file key against raw libcrypto, on one thread.")

    @OptionGroup var key: KeyOptions
    @OptionGroup var race: RaceOptions

    func run() async throws {
        let (gateway, verifying) = (try await BenchGateway(key, .off), try await BenchGateway(key, .always))
        guard let raw = RawLibCrypto() else { throw ValidationError("libcrypto cannot sign") }
        let count = race.operations
        let rates = try await Stopwatch.race(
            rounds: race.rounds,
            [
                { raw.sign(count: count) },
                try gateway.contestant("legacy-promotional-offer", BenchGateway.legacyBody, count: count),
                try gateway.contestant("promotional-offer", BenchGateway.jwsBody, count: count),
                try verifying.contestant("promotional-offer", BenchGateway.jwsBody, count: count / 4),
            ])
        await gateway.ring.close()
        await verifying.ring.close()
        print(JSONText.string(["raw": rates[0], "legacy": rates[1], "jws": rates[2], "verified": rates[3]]))
    }
}

/// Races the in-process path of a token key against a raw loop with as many threads. Prints the rates of each round, for
/// each size.
struct TokenPaths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Races a token's pool, at several sizes and with many callers, against raw loops.")

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
        for size in sizes { gateways.append(try await BenchGateway(key, .off, sessions: size)) }
        let count = race.operations
        let contestants = sizes.map { size in { await raw.sign(count: count, threads: size) } as Stopwatch.Contestant }
        let ours = try gateways.map {
            try $0.contestant("promotional-offer", BenchGateway.jwsBody, count: count, callers: callers)
        }
        let rates = try await Stopwatch.race(rounds: race.rounds, contestants + ours)
        for gateway in gateways { await gateway.ring.close() }
        raw.close()
        print(JSONText.string(["raw": Array(rates.prefix(sizes.count)), "pool": Array(rates.dropFirst(sizes.count))]))
    }
}

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
        let libcrypto: Stopwatch.Contestant = {
            await withTaskGroup { group in
                for key in keys { group.addTask { key.sign(count: count) } }
                return await group.reduce(0, +)
            }
        }
        var best = 0.0
        if let raw = try token.open(threads: cores) {
            _ = await raw.sign(count: count, threads: cores)
            for threads in 1...cores {
                best = max(best, try await Stopwatch.rate { await raw.sign(count: count, threads: threads) })
            }
            raw.close()
        }
        // The first call warms up.
        _ = try await libcrypto()
        print(JSONText.string(["libcrypto": Int(try await Stopwatch.rate(libcrypto)), "token": Int(best)]))
    }
}

/// The limit of one signer process; two at the same time are the limit of two.
struct RawTokenLoop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw-token", abstract: "Prints raw signatures per second of a token, on one thread.",
        discussion: "Prints a line when the token is open, and begins when it reads one.")

    @OptionGroup var token: RawTokenOptions
    @Option(help: "The number of signatures.")
    var operations = 20_000

    func run() async throws {
        guard let raw = try token.open(threads: 1) else {
            throw ValidationError("the raw loop found no token or key")
        }
        let count = operations
        print("open")
        fflush(nil)
        _ = readLine()
        print(Int(try await Stopwatch.rate { await raw.sign(count: count, threads: 1) }))
        raw.close()
    }
}
