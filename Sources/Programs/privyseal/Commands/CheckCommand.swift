import ArgumentParser
import GatewayConfiguration
import SigningGateway

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Open every key, have it sign a proof, and say which are fit to sign and what waits for somebody.",
        discussion: """
            The proof is a fixed text and a random nonce; it cannot be taken for a token or an offer.
            Where there is an audit log, the register of keys is looked at too, of the running gateway or in the log's \
            database: differences between configuration and register, and work on tokens that began and did not end, \
            each with what to do. The configuration declares keys, the register holds their states; see docs/key-life.md.
            The status is 0 when every key is fit to sign and nothing waits for somebody, 1 when not, and 78 when the \
            configuration is wrong. A proposal that a second administrator has not seen yet is shown, and is no fault.
            """)

    @OptionGroup var config: ConfigurationOption
    @OptionGroup var output: OutputOption

    func run() async throws {
        let configuration = try config.load()
        let keys = await KeyInventory.take(configuration)
        let register = await KeyRegisterCheck.take(configuration, at: config.path)
        switch output.format {
        case .json: print(keys.json(with: register))
        case .text: print(([keys.text] + register.sentences).joined(separator: "\n"))
        }
        guard keys.entries.allSatisfy(\.canSign), register.isFine else { throw ExitCode.failure }
    }
}
