import ArgumentParser
import Dispatch
import Glibc
import Logging
import Metrics
import SignerClient
import SignerHost
import SignerProtocol
import Signing

struct SignerCommand: ParsableCommand {
    static let name = "signer"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Run a signer on its own, for a gateway under another user.",
        discussion: """
            A signer holds the keys, loads the PKCS #11 module and reads the PIN. The gateway starts signers itself; with \
            signers.socket, it connects to one that runs on its own:

              privyseal signer --listen /run/privyseal/hsm-a.sock --allow-user privyseal

            Each connection gets a process of its own. privyseal-signer@.service runs this command; see \
            docs/operations.md.
            """)

    @Option(help: ArgumentHelp("The Unix socket to listen on; its directory must exist.", valueName: "path"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The user whose processes may connect: a name or a number. Root and the signer's own user may always.",
            valueName: "user"))
    var allowUser: String?

    @Option(help: .hidden)
    var parent: Int32?

    func validate() throws {
        guard listen != nil || parent != nil else {
            throw ValidationError("Give the socket with --listen PATH. The gateway starts other signers itself.")
        }
    }

    /// Runs in place of `run`, which would have several threads already. Does not return if the arguments are valid.
    static func begin() {
        guard let command = try? parse(Array(CommandLine.arguments.dropFirst(2))) else { return }
        if let path = command.listen {
            do throws(CommandError) { try SignerListener(path: path, allowedUser: command.allowUser).run() } catch {
                StandardError.print("error: \(error)")
                ProcessEnd.leave(1)
            }
        }
        if let parent = command.parent { serve(parent: parent) }
    }

    private static func serve(parent: Int32) -> Never {
        let host = SignerHost(
            socket: LaunchedSigner.descriptor, backends: BuiltIns.hostedBackends, secrets: FileSecretSource())
        do throws(SignerProtocolError) {
            guard let input = try host.protect(parent: parent) else { ProcessEnd.leave(0) }
            LoggingSystem.bootstrap { SignerLogHandler(label: $0, host.socket) }
            MetricsSystem.bootstrap(host.metrics)
            Task { await host.serve(input) }
            dispatchMain()
        } catch {
            StandardError.print("error: The gateway \(error).")
            ProcessEnd.leave(1)
        }
    }
}
