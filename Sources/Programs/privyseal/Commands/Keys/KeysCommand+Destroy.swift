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

        @Option(help: "The reason to record.")
        var reason = "key destruction"

        @OptionGroup var provisioning: ProvisioningOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let configuration = try provisioning.admin.loadConfiguration()
            let declared = configuration?.accounts.lazy
                .flatMap { account in account.keys.map { (issuerID: account.issuerID, key: $0) } }
                .first { $0.key.keyID == keyID }
            guard let uri = at ?? declared?.key.uri.text else {
                throw CommandError(
                    "The configuration names no key \(keyID). Give its URI with --at URI, and use --config FILE.")
            }
            let target = try ProvisioningTarget(uri, keyID: keyID, as: provisioning.user, configuration)
            let client = try await provisioning.admin.lifecycleClient(configuration)
            let issuerID =
                if let account = declared?.issuerID, provisioning.issuer == nil { account } else {
                    try await provisioning.issuerID(configuration, client)
                }
            let known = try await client.overview().key(keyID)?.life
            let fingerprint = (known?.issuerID == issuerID ? known?.fingerprint : nil) ?? declared?.key.fingerprint
            let order = ProvisioningOrder(
                .destroy, issuerID: issuerID, keyID: keyID, uri: "\(target.uri)", fingerprint: fingerprint,
                reason: reason)
            let work = try await provisioning.perform(order, client, target) { location in
                "The key \(keyID) on the \(location.name) (serial \(location.serial)) is destroyed permanently."
            } work: { session, isResumed in
                let gone = try await session.destroy(
                    target.selector, expecting: fingerprint, isResumed: isResumed,
                    tell: { StandardError.print("  \($0)") })
                var facts = session.location.evidence.merging(gone.evidence) { _, own in own }
                facts["destroyedPrivateObjects"] = "\(gone.destroyedPrivate)"
                facts["destroyedPublicObjects"] = "\(gone.destroyedPublic)"
                return (
                    gone,
                    ProvisioningResult(isSuccess: true, fingerprint: gone.fingerprint ?? fingerprint, evidence: facts)
                )
            }
            if let work { show(work.product, issuerID, work.location) }
        }

        private func show(_ gone: DestroyedKey, _ issuerID: String, _ location: ProvisioningLocation) {
            let document: JSONMembers = [
                "outcome": "destroyed", "keyId": keyID, "issuerId": issuerID, "state": KeyLifecycleState.destroyed,
                "fingerprint": gone.fingerprint, "destroyedPrivateObjects": gone.destroyedPrivate,
                "destroyedPublicObjects": gone.destroyedPublic,
            ]
            provisioning.output.show(
                document,
                text: (gone.destroyedPrivate == 0 ? "There was no private key left.\n" : "")
                    + "The key \(keyID) is destroyed: no object of it is left on the \(location.name).\n"
                    + "Next: remove it from the configuration, and revoke it in App Store Connect if that is not done.")
        }
    }
}
