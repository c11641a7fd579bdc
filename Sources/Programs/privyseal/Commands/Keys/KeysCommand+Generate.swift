import ArgumentParser
import Crypto
import GatewayConfiguration
import KeyLifecycle
import KeyTransport
import ServiceManager
import SigningKit

extension KeysCommand {
    struct Generate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate",
            abstract: "Generate a key in a token, for a service whose customers make their keys.",
            discussion: """
                The token generates a P-256 key pair; the private key is never outside of it. Apple makes App Store \
                keys itself, so those are imported; see keys import. The command writes the public key as PEM and, \
                with --subject, a certification request (PKCS #10) that the key signed.
                """)

        @Option(
            help: ArgumentHelp(
                "The key's location: a pkcs11: or awskms: URI as in the configuration.", valueName: "uri"))
        var into: String

        @Option(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var keyID: String

        @Option(help: ArgumentHelp("A file for the public key; default: print it.", valueName: "file"))
        var publicKey: String?

        @Option(help: ArgumentHelp("The key's subject, such as CN=example,O=Example,C=DE.", valueName: "name"))
        var subject: String?

        @Option(help: ArgumentHelp("A file for the certification request; default: print it.", valueName: "file"))
        var csr: String?

        @Option(help: "The reason to record.")
        var reason = "key generation"

        @OptionGroup var provisioning: ProvisioningOption

        func validate() throws {
            guard csr == nil || subject != nil else {
                throw ValidationError("--csr needs --subject: a request names the key's subject.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            _ = ProcessHardening.apply()
            let configuration = try provisioning.admin.loadConfiguration()
            try refuseReplicas(configuration)
            let target = try ProvisioningTarget(into, keyID: keyID, as: provisioning.user, configuration)
            // Refuse existing files and an unusable subject before the token generates a key.
            try DurableWrite.requireFree(publicKey)
            try DurableWrite.requireFree(csr)
            if let subject {
                _ = try CertificateRequest(subject: subject, publicKey: P256.Signing.PrivateKey().publicKey)
            }
            let client = try await provisioning.admin.lifecycleClient(configuration)
            let order = ProvisioningOrder(
                .generate, issuerID: try await provisioning.issuerID(configuration, client), keyID: keyID,
                uri: "\(target.uri)", fingerprint: nil, reason: reason)
            let work = try await provisioning.perform(order, client, [target]) { locations in
                locations.map { "The \($0.name) (serial \($0.serial)) makes a key \(keyID)." }.joined()
            } work: { _, session, isResumed in
                let placed = try await session.generate(
                    as: target.selector, isResumed: isResumed, tell: { StandardError.print("  \($0)") })
                return (placed, placed.reported(in: session.location))
            }
            guard let work,
                let report = ProvisionedKeyReport(
                    work: work, [target], gatewayOption: provisioning.admin.gatewayOption)
            else { return }
            try await write(report, work.places[0].product, target)
        }

        /// Throws if the configuration names several places for the key: no other token can have a generated key.
        private func refuseReplicas(_ configuration: GatewayConfiguration?) throws(CommandError) {
            let declared = configuration?.keys.first { $0.keyID == keyID }
            guard let declared, !declared.replicas.isEmpty else { return }
            throw CommandError(
                "A token generates a key that no other token can have, and \(declared.origin) names \(declared.uris.count) "
                    + "places for \(keyID). Remove its replicas, or import one key into all of its places with keys import."
            )
        }

        private func write(
            _ made: ProvisionedKeyReport, _ placed: ProvisionedKey, _ target: ProvisioningTarget
        ) async throws {
            // The token has the key by now: what cannot be written is printed.
            var failure: CommandError?
            func wasWritten(_ text: String?, to path: String?) -> Bool {
                guard let text, let path else { return false }
                do throws(CommandError) { try DurableWrite.create(path, text) } catch {
                    failure = error
                    return false
                }
                return true
            }
            let hasPublicKey = wasWritten(placed.pem, to: publicKey)
            var request: String?
            if let subject {
                let unsigned = try CertificateRequest(subject: subject, publicKey: placed.publicKey)
                let der = try await target.withKey { key in try unsigned.signed(try await key.sign(unsigned.digest)) }
                request = PEM.text("CERTIFICATE REQUEST", der)
            }
            let hasRequest = wasWritten(request, to: csr)
            let unwritten = [hasPublicKey ? nil : placed.pem, hasRequest ? nil : request].compactMap(\.self)
            provisioning.output.show(
                made.members(publicKey: placed.pem, request: request),
                text: (unwritten + [made.text]).joined(separator: "\n"))
            if let failure { throw failure }
        }
    }
}
