import ArgumentParser
import SigningGateway
import SigningKit

/// Which key, and how.
struct KeyOptions: ParsableArguments {
    @Option(help: "The key's URI.")
    var key: String

    @Option(help: "Sessions of a token's pool; 0 for the default.")
    var sessions = 0

    @Option(help: "always, off, or one of N.")
    var verification = "off"

    func gateway() async throws -> BenchGateway {
        let mode: VerificationMode
        switch verification {
        case "always": mode = .always
        case "off": mode = .off
        default: mode = .sampled(every: Int(verification) ?? 100)
        }
        return try await BenchGateway(uri: key, verification: mode, sessions: sessions)
    }
}
