import ArgumentParser
import LegacyPromotionalOffer
import PromotionalOffer
import SigningGateway
import SigningKit
import StrictJSON

/// The paths within the process, without HTTP.
struct InProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Measures the signing paths without HTTP.")

    @Option(help: "The URI of a file key.")
    var fileKey: String

    @Option(help: "How many rounds to race.")
    var rounds = 11

    @Option(help: "How many operations of each contestant make a round.")
    var operations = 10_000

    func run() async throws {
        var figures: [Figure] = []
        figures += try await fileFigures()
        var writer = JSONWriter()
        writer.array { writer in for figure in figures { figure.write(to: &writer) } }
        print(String(decoding: writer.bytes, as: UTF8.self))
    }

    private func fileFigures() async throws -> [Figure] {
        let gateway = try await BenchGateway(uri: fileKey, verification: .off)
        let legacy = try gateway.route("legacy-promotional-offer")
        let jws = try gateway.route("promotional-offer")
        let legacyInput = try LegacyPromotionalOfferRequest(from: JSONDocument(parsing: BenchGateway.legacyBody).root)
        let jwsInput = try PromotionalOfferRequest(from: JSONDocument(parsing: BenchGateway.jwsBody).root)
        guard let raw = RawLibCrypto() else { throw ValidationError("libcrypto cannot sign") }
        let count = operations
        let rates = await Stopwatch.race(
            rounds: rounds,
            [
                { raw.sign(count: count); return count },
                {
                    for _ in 0..<count {
                        _ = try? await gateway.dispatcher.sign(LegacyPromotionalOffer(), legacyInput, along: legacy)
                    }
                    return count
                },
                {
                    for _ in 0..<count {
                        _ = try? await gateway.dispatcher.sign(PromotionalOffer(), jwsInput, along: jws)
                    }
                    return count
                },
                {
                    for _ in 0..<count { _ = try? await gateway.dispatcher.sign(BenchGateway.legacyBody, along: legacy) }
                    return count
                },
                {
                    for _ in 0..<count { _ = try? await gateway.dispatcher.sign(BenchGateway.jwsBody, along: jws) }
                    return count
                },
            ])
        let names = [
            ("in process, file key, legacy, from input to answer", 0.88),
            ("in process, file key, JWS, from input to answer", 0.88),
            ("in process, file key, legacy, from bytes to bytes", 0.75),
            ("in process, file key, JWS, from bytes to bytes", 0.75),
        ]
        return zip(names, rates.dropFirst()).map { name, measured in
            Figure(
                name: name.0, value: Stopwatch.median(measured), unit: "signatures/s",
                limit: Stopwatch.median(rates[0]), ratio: Stopwatch.ratio(measured, of: rates[0]), bar: name.1)
        }
    }
}
