import ArgumentParser
import Signing

/// Measures the in-process paths of a file key against raw libcrypto, and the cost of verification.
struct FilePaths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Races the signing paths of a file key against raw libcrypto, on one thread.")

    @OptionGroup var key: KeyOptions
    @OptionGroup var race: RaceOptions

    func run() async throws {
        let gateway = try await key.gateway(.off)
        let verifying = try await key.gateway(.always)
        guard let raw = RawLibCrypto() else { throw ValidationError("libcrypto cannot sign") }
        let count = race.operations
        var contestants: [Stopwatch.Contestant] = [
            {
                raw.sign(count: count); return count
            }
        ]
        contestants += try bytePaths(gateway, count)
        contestants.append(try bytePaths(verifying, count / 4)[1])
        let rates = try await Stopwatch.race(rounds: race.rounds, contestants)
        await gateway.ring.close()
        await verifying.ring.close()
        let names: [(String, Double?)] = [
            ("in process, file key, legacy: bytes to bytes", 0.75),
            ("in process, file key, JWS: bytes to bytes", 0.75),
            ("the same JWS with verification: always", nil),
        ]
        Figure.print(
            zip(names, rates.dropFirst()).map { name, measured in
                Figure(name: name.0, measured, of: rates[0], bar: name.1)
            })
    }

    private func bytePaths(_ gateway: BenchGateway, _ count: Int) throws -> [Stopwatch.Contestant] {
        let (legacy, jws) = (try gateway.route("legacy-promotional-offer"), try gateway.route("promotional-offer"))
        return [
            {
                for _ in 0..<count { _ = try await gateway.dispatcher.sign(BenchGateway.legacyBody, for: legacy) }
                return count
            },
            {
                for _ in 0..<count { _ = try await gateway.dispatcher.sign(BenchGateway.jwsBody, for: jws) }
                return count
            },
        ]
    }
}
