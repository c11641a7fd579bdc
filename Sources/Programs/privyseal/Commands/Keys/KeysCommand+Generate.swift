import ArgumentParser
import Crypto
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

        @Option(help: ArgumentHelp("The key's location: a pkcs11: URI as in the configuration.", valueName: "uri"))
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
            let work = try await provisioning.perform(order, client, target) { location in
                "The \(location.name) (serial \(location.serial)) makes a key \(keyID)."
            } work: { session, isResumed in
                let placed = try await session.generate(
                    as: target.selector, isResumed: isResumed, tell: { StandardError.print("  \($0)") })
                return (placed, placed.reported(in: session.location))
            }
            if let work { try await write(ProvisionedKeyReport(work: work, uri: target.uri), target) }
        }

        private func write(_ made: ProvisionedKeyReport, _ target: ProvisioningTarget) async throws {
            let placed = made.work.product
            if let publicKey { try DurableWrite.create(publicKey, placed.pem) }
            var request: String?
            if let subject {
                let unsigned = try CertificateRequest(subject: subject, publicKey: placed.publicKey)
                let der = try await target.withKey { key in try unsigned.signed(try await key.sign(unsigned.digest)) }
                request = PEM.text("CERTIFICATE REQUEST", der)
            }
            if let csr, let request { try DurableWrite.create(csr, request) }
            let unwritten = [publicKey == nil ? placed.pem : nil, csr == nil ? request : nil].compactMap(\.self)
            provisioning.output.show(
                made.members(publicKey: placed.pem, request: request),
                text: (unwritten + [made.text]).joined(separator: "\n"))
        }
    }
}
