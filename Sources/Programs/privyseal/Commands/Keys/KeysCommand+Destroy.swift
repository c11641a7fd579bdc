import ArgumentParser
import GatewayConfiguration
import KeyLifecycle
import Signing
import SigningKit
import StrictJSON

extension KeysCommand {
    struct Destroy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "destroy",
            abstract: "Delete a key from its token, and check that it is gone.",
            discussion: """
                The key must be retired, compromised or never activated; a key that is in use is refused. To continue \
                an interrupted destruction, run the same command again. Afterwards, remove the key from the \
                configuration.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var keyID: String

        @Option(help: ArgumentHelp("The key's URI, if the configuration does not name the key.", valueName: "uri"))
        var at: String?

        @Option(help: ArgumentHelp("The account's issuer ID; not needed if there is one account.", valueName: "id"))
        var issuer: String?

        @Option(help: "The reason to record.")
        var reason = "key destruction"

        @OptionGroup var lifecycleClient: KeyLifecycleClientOption
        @OptionGroup var user: TokenUserOption
        @OptionGroup var consent: KeyConsentOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let declared = try declared()
            guard let uri = at ?? declared?.key.uri.text else {
                throw StandardError.failure(
                    "The configuration names no key \(keyID). Give its URI with --at URI, and use --config FILE.")
            }
            let target = try ProvisioningTarget(
                uri, keyID: keyID, as: user, configuration: lifecycleClient.admin.configuration)
            let issuerID =
                if let account = declared?.issuerID, issuer == nil { account } else {
                    try await lifecycleClient.issuer(issuer)
                }
            let provisioningSession = try await target.provisioningSession()
            do { try await destroy(provisioningSession, target, issuerID, declared?.key.fingerprint) } catch {
                await provisioningSession.close()
                throw error
            }
            await provisioningSession.close()
        }

        private func declared() throws -> (issuerID: String, key: GatewayConfiguration.Key)? {
            guard let path = lifecycleClient.admin.configuration else { return nil }
            for account in try ConfigurationOption.load(path).accounts {
                if let key = account.keys.first(where: { $0.keyID == keyID }) { return (account.issuerID, key) }
            }
            return nil
        }

        private func destroy(
            _ provisioningSession: any ProvisioningSession, _ target: ProvisioningTarget, _ issuerID: String,
            _ pinned: PublicKeyFingerprint?
        ) async throws {
            let location = provisioningSession.location
            try consent.require(
                "The key \(keyID) on the \(location.name) (serial \(location.serial)) is destroyed permanently.")
            let known = try await lifecycleClient.lifecycleClient().overview().accounts.flatMap(\.keys)
                .first { $0.life.keyID == keyID && $0.life.issuerID == issuerID }?.life.fingerprint
            let fingerprint = known ?? pinned
            let order = ProvisioningOrder(
                .destroy, issuerID: issuerID, keyID: keyID, uri: "\(target.uri)", fingerprint: fingerprint,
                reason: reason)
            guard let job = try await ProvisioningRun.begin(lifecycleClient, order, output) else { return }
            let (gone, _) = try await job.perform {
                try await provisioningSession.destroy(
                    target.address.selector, expecting: fingerprint, isResumed: job.isResumed,
                    tell: { StandardError.print("  \($0)") })
            } evidence: { gone in
                (gone.fingerprint ?? fingerprint, ProvisioningEvidence.of(gone, in: location))
            }
            let document: JSONMembers = [
                "outcome": "destroyed", "keyId": keyID, "issuerId": issuerID, "state": KeyLifecycleState.destroyed,
                "fingerprint": gone.fingerprint, "destroyedPrivateObjects": gone.destroyedPrivate,
                "destroyedPublicObjects": gone.destroyedPublic,
            ]
            output.show(
                document,
                text: (gone.destroyedPrivate == 0 ? "There was no private key left.\n" : "")
                    + "The key \(keyID) is destroyed: no object of it is left on the \(location.name).\n"
                    + "Next: remove it from the configuration, and revoke it in App Store Connect if that is not done.")
        }
    }
}
