import ArgumentParser

@main
struct PrivySealBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "privyseal-bench",
        abstract: "Measures PrivySeal against the limits of its libraries; scripts/bench runs it.",
        subcommands: [
            FilePaths.self, TokenPaths.self, SignerPaths.self, Raw.self, RawTokenLoop.self, Serve.self,
            AuditLogFill.self, BareSync.self, Memory.self,
        ]
    )
}
