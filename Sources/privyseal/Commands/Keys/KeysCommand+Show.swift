import ArgumentParser
import SigningGateway
import StrictJSON

extension KeysCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Tell everything that is known of one key: state, place, fingerprint, history with evidence.")

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var place: KeyDeskOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let found = try await place.key(key)
            switch output.format {
            case .json: print(String(decoding: found.jsonBytes(capacity: 2048), as: UTF8.self))
            case .text: print(KeyLifeText(found).whole)
            }
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "List every change in the life of one key: when, what, who, why.")

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var key: String

        @OptionGroup var place: KeyDeskOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            let found = try await place.key(key)
            switch output.format {
            case .json: print(String(decoding: found.life.jsonBytes(capacity: 2048), as: UTF8.self))
            case .text: print(KeyLifeText(found).history)
            }
        }
    }
}

extension KeyDeskOption {
    /// - Throws: that there is none, already said; the status is 1.
    fileprivate func key(_ keyID: String) async throws -> KeyLifeOverview.Key {
        let overview = try await ask { desk in try await desk.overview() }
        for account in overview.accounts {
            if let key = account.keys.first(where: { $0.life.keyID == keyID }) { return key }
        }
        throw StandardError.failure("There is no key \(keyID). privyseal keys states shows those that there are.")
    }
}
