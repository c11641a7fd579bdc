import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Look at the keys of the configuration.",
        subcommands: [List.self])

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
