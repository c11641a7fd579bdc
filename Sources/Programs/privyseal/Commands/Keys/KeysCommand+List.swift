import ArgumentParser

extension KeysCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract:
                "List every key of the configuration: ID, account, location, custody, fingerprint, fitness.",
            discussion:
                "Each key is opened and signs a proof. privyseal keys states shows what a key may be used for.")

        @OptionGroup var config: ConfigurationOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let keys = await KeyInventory.take(try config.load())
            output.show(keys.members(), text: keys.text)
        }
    }
}
