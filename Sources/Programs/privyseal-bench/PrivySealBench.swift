import ArgumentParser

@main
struct PrivySealBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "privyseal-bench",
        abstract: "Measures PrivySeal against the limits of its libraries; scripts/bench runs it.",
        subcommands: [
            FilePaths.self, TokenPaths.self, Raw.self, Serve.self, AuditLogFill.self, BareSync.self, Memory.self,
        ]
    )
}
