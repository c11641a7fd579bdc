import ArgumentParser

/// An argument where a command's name is expected, and which is none. ArgumentParser would name the next option instead.
struct UnknownCommand: CustomStringConvertible {
    /// The command before it, such as `privyseal keys`.
    let parent: String
    let name: String
    /// The names of the commands that `parent` has.
    let known: [String]

    var description: String {
        "There is no command \"\(parent) \(name)\". The commands are \(known.joined(separator: ", ")); see \(parent) --help."
    }

    /// - Returns: nil if the arguments name a command.
    static func find(in arguments: some Sequence<String>) -> UnknownCommand? {
        var (path, commands) = (PrivySeal.name, PrivySeal.configuration.subcommands)
        for argument in arguments {
            guard !commands.isEmpty, !argument.hasPrefix("-") else { return nil }
            // ArgumentParser's own command; the name of another command follows.
            if argument == "help", path == PrivySeal.name { continue }
            guard let command = commands.first(where: { $0.configuration.commandName == argument }) else {
                let shown = commands.map { $0.configuration }.filter(\.shouldDisplay)
                return UnknownCommand(parent: path, name: argument, known: shown.compactMap(\.commandName))
            }
            guard command.configuration.defaultSubcommand == nil else { return nil }
            path += " \(argument)"
            commands = command.configuration.subcommands
        }
        return nil
    }
}
