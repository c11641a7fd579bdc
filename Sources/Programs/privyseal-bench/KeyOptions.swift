import ArgumentParser
import Signing

struct KeyOptions: ParsableArguments {
    @Option(help: "The key's URI.")
    var key: String

    @Option(help: "Sessions of a token's pool; 0 for the default.")
    var sessions = 0

    func gateway(_ verification: VerificationMode, sessions: Int? = nil) async throws -> BenchGateway {
        try await BenchGateway(uri: key, verification: verification, sessions: sessions ?? self.sessions)
    }
}
