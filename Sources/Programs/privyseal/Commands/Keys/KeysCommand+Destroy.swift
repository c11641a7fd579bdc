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
                The key must be retired, compromised, suspended or never activated; a key that is in use is refused. To continue \
                an interrupted destruction, run the same command again. Afterwards, remove the key from the \
                configuration. A key with replicas is deleted at all of its places, in one job.
                """)

        @Argument(help: ArgumentHelp("The key's ID.", valueName: "key-id"))
        var keyID: String

        @Option(
            help: ArgumentHelp(
                "The key's URI, if the configuration does not name the key; once for each place.", valueName: "uri"))
        var at: [String] = []

        @Option(help: "The reason to record.")
        var reason = "key destruction"

        @OptionGroup var provisioning: ProvisioningOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            let configuration = try provisioning.admin.loadConfiguration()
            let declared = configuration?.keys.first { $0.keyID == keyID }
            let targets = try ProvisioningTarget.all(
                at, of: keyID, option: "--at", as: provisioning.user, configuration)
            let client = try await provisioning.admin.lifecycleClient(configuration)
            let issuerID =
                if let owner = configuration?.owner(ofKey: keyID), provisioning.issuer == nil { owner } else {
                    try await provisioning.issuerID(configuration, client)
                }
            let known = try await client.overview().key(keyID)?.life
            let fingerprint = (known?.issuerID == issuerID ? known?.fingerprint : nil) ?? declared?.fingerprint
            let order = ProvisioningOrder(
                .destroy, issuerID: issuerID, keyID: keyID, uri: "\(targets[0].uri)",
                replicas: targets.dropFirst().map { "\($0.uri)" }, fingerprint: fingerprint, reason: reason)
            let work = try await provisioning.perform(order, client, targets) { locations in
                let names = locations.map { "the \($0.name) (serial \($0.serial))" }.joined(separator: " and ")
                return "The key \(keyID) on \(names) is destroyed permanently."
            } work: { number, session, isResumed in
                let gone = try await session.destroy(
                    targets[number].selector, expecting: fingerprint, isResumed: isResumed,
                    tell: { StandardError.print("  \($0)") })
                var facts = session.location.evidence.merging(gone.evidence) { _, own in own }
                facts["destroyedPrivateObjects"] = "\(gone.destroyedPrivate)"
                facts["destroyedPublicObjects"] = "\(gone.destroyedPublic)"
                return (
                    gone,
                    ProvisioningResult(isSuccess: true, fingerprint: gone.fingerprint ?? fingerprint, evidence: facts)
                )
            }
            guard let work else { return }
            guard case .ended(let record)? = work.outcome, record.state == .destroyed else {
                throw CommandError(
                    "The work on \(keyID) is done here, but the register does not say that the key is destroyed. Run the same "
                        + "command again.")
            }
            show(work.places, issuerID, targets)
        }

        private func show(
            _ places: [ProvisioningProduct<DestroyedKey>.Place], _ issuerID: String, _ targets: [ProvisioningTarget]
        ) {
            let gone = places.map(\.product)
            let document: JSONMembers = [
                "outcome": "destroyed", "keyId": keyID, "issuerId": issuerID, "state": KeyLifecycleState.destroyed,
                "fingerprint": gone.lazy.compactMap(\.fingerprint).first,
                "destroyedPrivateObjects": gone.map(\.destroyedPrivate).reduce(0, +),
                "destroyedPublicObjects": gone.map(\.destroyedPublic).reduce(0, +),
                "remainder": targets.count == 1 ? gone.first?.remainder : nil,
                "places": targets.count > 1
                    ? places.map { place -> JSONMembers in
                        [
                            "uri": "\(targets[place.number].uri)", "tokenSerial": place.location.serial,
                            "destroyedPrivateObjects": place.product.destroyedPrivate,
                            "destroyedPublicObjects": place.product.destroyedPublic,
                            "remainder": place.product.remainder,
                        ]
                    } : nil,
            ]
            let complete = places.filter { $0.product.remainder == nil }.map { "the \($0.location.name)" }
            let lines =
                (complete.isEmpty ? [] : ["No object of it is left on \(complete.joined(separator: " and "))."])
                + gone.compactMap(\.remainder)
            provisioning.output.show(
                document,
                text: (gone.allSatisfy { $0.destroyedPrivate == 0 } ? "There was no private key left.\n" : "")
                    + "The key \(keyID) is destroyed. \(lines.joined(separator: " "))\n"
                    + "Next: remove it from the configuration, and revoke it at Apple if that is not done.")
        }
    }
}
