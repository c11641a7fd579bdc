import ArgumentParser
import KeyLifecycle

extension KeysCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show one key in full: state, location, fingerprint, history with evidence.")

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let found = try await target.key(key)
            output.show(found, text: KeyLifecycleText(found).whole)
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List every recorded change of one key: time, action, actor, reason.")

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var target: KeyLifecycleClientOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let found = try await target.key(key)
            output.show(found.life, text: KeyLifecycleText(found).history)
        }
    }
}

extension KeyLifecycleClientOption {
    /// - Throws: `ExitCode` 1, after printing that there is no such key.
    fileprivate func key(_ keyID: String) async throws -> KeyLifecycleOverview.Key {
        let overview = try await lifecycleClient().overview()
        for account in overview.accounts {
            if let key = account.keys.first(where: { $0.life.keyID == keyID }) { return key }
        }
        throw StandardError.failure("There is no key \(keyID). privyseal keys states lists the keys.")
    }
}
