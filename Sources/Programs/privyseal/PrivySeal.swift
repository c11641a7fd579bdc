import ArgumentParser
import CProcessStart
import ServiceManager

@main
struct PrivySeal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "privyseal",
        abstract: "Signs App Store offers with keys in PKCS #11 tokens and .p8 files.",
        discussion: """
            The configuration lists the apps and the locations of their keys; see docs/configuration.md.

              privyseal check --config gateway.yaml        test every key with a signature
              privyseal clients mint shop                  make a token for a client
              privyseal serve --config gateway.yaml        run the HTTP service
              privyseal status --config gateway.yaml       show the state of the running service
              privyseal sign promotional-offer --config gateway.yaml \\
                --app com.example.app productId=monthly offerIdentifier=winback
              privyseal verify --explain …                 find the mistake in a signature
              privyseal audit verify --config gateway.yaml verify the record of signatures
              privyseal compliance report --config …       report the custody of keys to auditors

            Shell completion: privyseal --generate-completion-script bash (or zsh, fish).
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, ReloadCommand.self, StatusCommand.self, SignCommand.self, VerifyCommand.self,
            CheckCommand.self, KeysCommand.self, DrillCommand.self, ClientsCommand.self, PolicyCommand.self,
            AuditCommand.self, ComplianceCommand.self, OpenAPICommand.self,
        ]
    )

    static func main() async {
        // First of all: a core dump of any command may contain a PIN.
        StandardError.warn(of: ProcessHardening.protectMemory())
        // The runtime's crash report also shows memory, and its reporter may outlive the process.
        privyseal_remove_crash_handlers()
        ProcessEnd.reportForeignExits()
        do {
            var command = try await asyncParseAsRoot()
            StandardOutput.reserve()
            do {
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch let error where exitCode(for: error) == .failure && !(error is ExitCode) {
                // The command's own error: ArgumentParser gives its errors another status.
                throw StandardError.failure("\(error)")
            }
            ProcessEnd.leave(ExitCode.success.rawValue)
        } catch {
            let (message, status) = (fullMessage(for: error), exitCode(for: error))
            // Help and version are answers.
            if !message.isEmpty { if status.isSuccess { print(message) } else { StandardError.print(message) } }
            ProcessEnd.leave(status.rawValue)
        }
    }
}

enum Version {
    static let text = "0.1.0"
}

/// Why a command cannot do its work: sentences with the remedy. `PrivySeal.main` prints it, and ends with status 1.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
