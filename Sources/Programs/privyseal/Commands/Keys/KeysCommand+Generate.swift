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

        @Option(help: ArgumentHelp("The account's issuer ID; not needed if there is one account.", valueName: "id"))
        var issuer: String?

        @Option(help: ArgumentHelp("A file for the public key; default: print it.", valueName: "file"))
        var publicKey: String?

        @Option(help: ArgumentHelp("The key's subject, such as CN=example,O=Example,C=DE.", valueName: "name"))
        var subject: String?

        @Option(help: ArgumentHelp("A file for the certification request; default: print it.", valueName: "file"))
        var csr: String?

        @Option(help: "The reason to record.")
        var reason = "key generation"

        @OptionGroup var lifecycleClient: KeyLifecycleClientOption
        @OptionGroup var user: TokenUserOption
        @OptionGroup var consent: KeyConsentOption
        @OptionGroup var output: OutputOption

        func validate() throws {
            guard csr == nil || subject != nil else {
                throw ValidationError("--csr needs --subject: a request names the key's subject.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            _ = ProcessHardening.apply()
            let target = try ProvisioningTarget(
                into, keyID: keyID, as: user, configuration: lifecycleClient.admin.configuration)
            try checkOutputs()
            let issuerID = try await lifecycleClient.issuer(issuer)
            let provisioningSession = try await target.provisioningSession()
            let made: ProvisionedKeyReport?
            do { made = try await make(provisioningSession, target, issuerID) } catch {
                await provisioningSession.close()
                throw error
            }
            await provisioningSession.close()
            if let made { try await write(made, target) }
        }

        /// Refuses existing files and an unusable subject, before the token generates a key.
        private func checkOutputs() throws {
            try NewFile.check(publicKey)
            try NewFile.check(csr)
            guard let subject else { return }
            _ = try CertificateRequest(subject: subject, publicKey: P256.Signing.PrivateKey().publicKey)
        }

        private func make(
            _ provisioningSession: any ProvisioningSession, _ target: ProvisioningTarget, _ issuerID: String
        ) async throws -> ProvisionedKeyReport? {
            let location = provisioningSession.location
            try consent.require("The \(location.name) (serial \(location.serial)) makes a key \(keyID).")
            let order = ProvisioningOrder(
                .generate, issuerID: issuerID, keyID: keyID, uri: "\(target.uri)", fingerprint: nil, reason: reason)
            guard let job = try await ProvisioningRun.begin(lifecycleClient, order, output) else { return nil }
            let (placed, record) = try await job.perform {
                try await provisioningSession.generate(
                    as: target.address.selector, isResumed: job.isResumed,
                    tell: { StandardError.print("  \($0)") })
            } evidence: { placed in
                (PublicKeyFingerprint(of: placed.publicKey), ProvisioningEvidence.of(placed, in: location))
            }
            return ProvisionedKeyReport(
                placed: placed, job: job.job, record: record, target: target, location: location)
        }

        private func write(_ made: ProvisionedKeyReport, _ target: ProvisioningTarget) async throws {
            let pem = PEM.text("PUBLIC KEY", Array(made.placed.publicKey.derRepresentation))
            if let publicKey { try NewFile.write(pem, to: publicKey) }
            var request: String?
            if let subject {
                let unsigned = try CertificateRequest(subject: subject, publicKey: made.placed.publicKey)
                let der = try await target.withKey { key in try unsigned.signed(try await key.sign(unsigned.digest)) }
                request = PEM.text("CERTIFICATE REQUEST", der)
            }
            if let csr, let request { try NewFile.write(request, to: csr) }
            let unwritten = [publicKey == nil ? pem : nil, csr == nil ? request : nil].compactMap(\.self)
            output.show(
                made.members(publicKey: pem, request: request),
                text: (unwritten + [made.text]).joined(separator: "\n"))
        }
    }
}
