import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Look at the keys of the configuration, bring keys into tokens, and destroy them there.",
        subcommands: [
            List.self, Import.self, Generate.self, Wrap.self, WrappingPair.self, Destroy.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List every key: ID, account, where it lives, custody, fingerprint, state.")

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let keys = try await KeyInventory.take(config)
            print(output.format == .json ? keys.json : keys.text)
        }
    }
}
