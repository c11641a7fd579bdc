import ArgumentParser
import GatewayConfiguration
import Glibc
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import StrictJSON
import TransparencyLog
import UnixSignals
import WitnessServer

struct WitnessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Run a witness, which cosigns the checkpoints of other teams' logs.",
        subcommands: [Serve.self, Key.self])

    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Cosign each checkpoint of a log that only grew since the last one.",
            discussion: """
                  privyseal witness serve --directory /var/lib/privyseal-witness \\
                    --name witness.example.com/w1 \\
                    --logs shop.vkey --listen 127.0.0.1:8095

                The first start makes the witness' own Ed25519 key and its database in the directory, and prints the \
                public key; later starts need no --name. The witness stores each checkpoint before it cosigns, and \
                refuses one that contradicts it. Never start a witness with an older copy of its database, or with none: \
                it could then cosign a fork.

                Gateways on other machines ask witnesses over HTTPS only: give --certificate and --private-key, or put a \
                reverse proxy before the witness. Start it again after a change of --logs or of the certificate.

                The protocol is C2SP tlog-witness with Ed25519 cosignatures; docs/witnesses.md describes both sides.

                EXIT STATUS
                  0   ended by a signal
                  1   the directory, the files or the address cannot be used
                  64  the command line is wrong
                """)

        @Option(
            help: ArgumentHelp("An existing directory for the key and the database.", valueName: "directory"),
            completion: .directory)
        var directory: String

        @Option(
            help: ArgumentHelp(
                "The name of a new witness: a URL without scheme, such as witness.example.com/w1.", valueName: "name"))
        var name: String?

        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp(
                "Files with the public keys of the logs, one in each line, as privyseal audit keys prints them.",
                valueName: "vkey-file"), completion: .file())
        var logs: [String]

        @Option(help: ArgumentHelp("The address, such as 127.0.0.1:8095; port 0: a free one.", valueName: "address"))
        var listen: String

        @Option(
            help: ArgumentHelp("The TLS certificate with its chain, in PEM.", valueName: "file"), completion: .file())
        var certificate: String?

        @Option(
            help: ArgumentHelp("The private key of the certificate, in PEM.", valueName: "file"), completion: .file())
        var privateKey: String?

        func validate() throws {
            guard (certificate == nil) == (privateKey == nil) else {
                throw ValidationError("Give both --certificate and --private-key, or neither.")
            }
            guard address != nil else {
                throw ValidationError("--listen \(listen) is not HOST:PORT, such as 127.0.0.1:8095.")
            }
        }

        private var address: (host: String, port: Int)? {
            guard case .tcp(let host, let port)? = GatewayConfiguration.ListenAddress(argument: listen) else {
                return nil
            }
            return (host, port)
        }

        func run() async throws {
            LoggingSystem.bootstrap { label in
                StreamedLogHandler(label: label, format: .text, recent: nil, metadataProvider: nil)
            }
            guard let address else { throw ExitCode.validationFailure }
            let tls = try tlsConfiguration()
            let logs = try WitnessDirectory.logs(in: logs)
            let (key, memory) = try WitnessDirectory(directory).open(name: name)
            let logger = Logger(label: "privyseal.witness")
            logger.notice("The witness \(key.name) has the public key \(key.verifier)")
            logger.notice("It cosigns checkpoints of \(logs.origins.joined(separator: ", "))")
            let service = WitnessService(
                Witness(key: key, logs: logs, memory: memory), host: address.host, port: address.port, tls: tls
            ) { port in
                logger.notice("The witness listens on \(address.host):\(port)")
            }
            var group = ServiceGroupConfiguration(
                services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            group.maximumGracefulShutdownDuration = .seconds(5)
            do { try await ServiceGroup(configuration: group).run() } catch {
                let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
                throw CommandError("The witness cannot listen on \(listen): \(reason)")
            }
        }

        private func tlsConfiguration() throws(CommandError) -> TLSConfiguration? {
            guard let certificate, let privateKey else { return nil }
            do {
                let chain = try NIOSSLCertificate.fromPEMFile(certificate).map {
                    NIOSSLCertificateSource.certificate($0)
                }
                let key = try NIOSSLPrivateKey(file: privateKey, format: .pem)
                return .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
            } catch {
                throw CommandError("--certificate or --private-key cannot be used: \(error)")
            }
        }
    }

    struct Key: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key",
            abstract: "Print the public key of a witness, for policies; with --name, make a new witness.",
            discussion: """
                  privyseal witness key --directory /var/lib/privyseal-witness \\
                    --name witness.example.com/w1

                The line is a verifier key (vkey, C2SP tlog-cosignature). In a policy it follows the word witness and a \
                name. With --name and an empty directory, the command makes the witness first, as its first start would.
                """)

        @Option(
            help: ArgumentHelp("The directory of the witness.", valueName: "directory"), completion: .directory)
        var directory: String

        @Option(help: ArgumentHelp("The name of a new witness.", valueName: "name"))
        var name: String?

        func run() throws {
            let files = try WitnessDirectory(directory)
            try print(name == nil ? files.publicKey() : files.open(name: name).0.verifier.text)
        }
    }
}
