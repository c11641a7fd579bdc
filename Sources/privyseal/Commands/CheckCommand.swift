import ArgumentParser
import SigningGateway

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Open every key, have it sign a proof, and say which are fit to sign.",
        discussion: """
            The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer.
            The status is 0 when every key is fit to sign, 1 when one is not, and 78 when the configuration is wrong.
            """)

    @OptionGroup var config: ConfigurationOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        let keys = try await KeyInventory.take(config)
        print(output.format == .json ? keys.json : keys.text)
        guard keys.entries.allSatisfy(\.canSign) else { throw ExitCode.failure }
    }
}
