import ArgumentParser
import CProcessStart
import Dispatch
import Glibc
import ServiceManager

/// The process begins on one thread. A signer protects itself before it has others.
@main
enum Program {
    static func main() {
        // First of all: a core dump of any command may contain a PIN.
        StandardError.warn(of: ProcessHardening.protectMemory())
        // The runtime's crash report also shows memory, and its reporter may outlive the process.
        privyseal_remove_crash_handlers()
        if CommandLine.arguments.dropFirst().first == SignerCommand.name { SignerCommand.begin() }
        Task { await PrivySeal.main() }
        dispatchMain()
    }
}

struct PrivySeal: AsyncParsableCommand {
    static let name = "privyseal"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "Signs App Store offers, and tokens for services of Apple, with keys in PKCS #11 tokens, AWS KMS and files.",
        discussion: """
            The configuration lists the apps and the locations of their keys; see docs/configuration.md.

              privyseal check --config gateway.yaml        test every key with a signature
              privyseal clients mint shop                  make a token for a client
              privyseal serve --config gateway.yaml        run the HTTP service
              privyseal status --config gateway.yaml       show the state of the service
              privyseal sign promotional-offer --config gateway.yaml \\
                --app com.example.app productId=monthly offerIdentifier=winback
              privyseal verify --explain …                 find the mistake in a signature
              privyseal audit verify --config gateway.yaml verify the record of signatures
              privyseal compliance report --config …       report key custody to auditors

            Shell completion: privyseal --generate-completion-script bash (or zsh, fish).
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, ReloadCommand.self, StatusCommand.self, SignCommand.self, TokenCommand.self,
            TokensCommand.self, VerifyCommand.self,
            CheckCommand.self, KeysCommand.self, DrillCommand.self, ClientsCommand.self, PolicyCommand.self,
            AuditCommand.self, WitnessCommand.self, ComplianceCommand.self, OpenAPICommand.self, FleetCommand.self,
            SignersCommand.self, SignerCommand.self,
        ]
    )

    static func main() async {
        ProcessEnd.reportForeignExits()
        do {
            if let unknown = UnknownCommand.find(in: CommandLine.arguments.dropFirst()) {
                throw StandardError.failure("\(unknown)", status: 64)
            }
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
    /// Whether the same command may succeed later without a person, such as on a disk that is full now.
    let mayPass: Bool

    init(_ description: String, mayPass: Bool = false) {
        self.description = description
        self.mayPass = mayPass
    }
}

enum ProcessEnd {
    /// Ends the process with an error when a library calls `exit(3)` or `quick_exit(3)`. With the library's status 0,
    /// the command would seem to have succeeded. `_exit(2)` runs no handler, so its calls are not noticed.
    ///
    /// The process itself ends only by `leave`, which runs no exit handlers.
    static func reportForeignExits() {
        atexit { ProcessEnd.report("exit()") }
        at_quick_exit { ProcessEnd.report("quick_exit()") }
    }

    private static func report(_ call: String) -> Never {
        StandardError.print(
            "privyseal: a library ended the process by calling \(call), so the command is not done. The library is "
                + "probably the PKCS #11 module: try it with its vendor's own tool.")
        // EX_SOFTWARE of sysexits.h.
        leave(70)
    }

    /// How long the last lines of the log wait for a slow reader.
    private static let flushLimit = Duration.seconds(5)

    /// Ends the process at once, after flushing output and log.
    ///
    /// `exit(3)` would run the cleanup of all libraries, such as libcrypto and the PKCS #11 module, while other threads
    /// may still be in their calls. A command that has done its work could then end by a signal.
    static func leave(_ status: Int32) -> Never {
        LogStream.standardError.flush(atMost: flushLimit)
        fflush(nil)
        _exit(status)
    }
}

/// Runs `body`, and then `cleanup`, even if `body` throws.
func finally<Value>(
    _ cleanup: () async -> Void, _ body: () async throws -> Value
) async throws -> Value {
    let value: Value
    do { value = try await body() } catch {
        await cleanup()
        throw error
    }
    await cleanup()
    return value
}
