import ArgumentParser
import Glibc
import KeyLifecycle
import KeyTransport
import ServiceManager
import SigningKit

extension KeysCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import a key into a token, and check it with a proof of possession.",
            discussion: """
                The key comes from a .p8 file, or with --wrapped from a package that keys wrap made for a wrapping key \
                of this token. It is then staged: it signs only proofs until it is activated.

                  token='pkcs11:token=appstore?module-path=/usr/lib/softhsm/libsofthsm2.so'
                  privyseal keys import AuthKey_2X9R4HXF34.p8 --key-id 2X9R4HXF34 \\
                    --into "$token&pin-source=file:/run/pin" --config gateway.yaml

                Without --into, the key goes into all places that the configuration names for it: its uri and its \
                replicas. Several places are one job, with one approval. To continue an interrupted import, run the same \
                command again: it leaves out the places that it has finished.

                The exit status is 0 if the key is in the token or the import was proposed, 1 if it is not, 64 if the \
                command could not ask for confirmation, and 78 if the configuration is wrong.
                """)

        @Argument(help: ArgumentHelp("The .p8 file.", valueName: "key.p8"), completion: .file())
        var file: String?

        @Option(
            help: ArgumentHelp(
                "A package from keys wrap, in place of the .p8; for several places one for each, in their order.",
                valueName: "package"))
        var wrapped: [String] = []

        @Option(
            help: ArgumentHelp(
                "The key's location: a pkcs11: or awskms: URI as in the configuration; once for each place. Default: the places that "
                    + "the configuration names for the key.", valueName: "uri"))
        var into: [String] = []

        @Option(help: ArgumentHelp("The key's ID, as Apple shows it.", valueName: "key-id"))
        var keyID: String

        @Option(
            help: ArgumentHelp(
                "The expected fingerprint from another source: sha256:…; required with --wrapped.",
                valueName: "fingerprint"))
        var fingerprint: String?

        @Option(help: "The reason to record.")
        var reason = "key import"

        @Flag(
            name: .customLong("destroy-file"),
            help: "Destroy the .p8 without asking, when the gateway has seen the key.")
        var destroysFile = false

        @Flag(
            name: .customLong("allow-clear-import"),
            help: "Send the key in the clear (C_CreateObject) to a token that cannot unwrap; else it is refused.")
        var allowsClear = false

        @OptionGroup var key: KeyFileOption
        @OptionGroup var provisioning: ProvisioningOption

        func validate() throws {
            guard (file == nil) != wrapped.isEmpty else {
                throw ValidationError("Give the .p8 file, or --wrapped PACKAGE.")
            }
            guard !allowsClear || file != nil else {
                throw ValidationError("--allow-clear-import is for a .p8 file; a package is opened in the token.")
            }
            guard !destroysFile || file != nil else {
                throw ValidationError("--destroy-file is for a .p8 file; a package is of no use to others.")
            }
            guard wrapped.isEmpty || fingerprint != nil else {
                throw ValidationError(
                    "--wrapped needs --fingerprint: anyone with the public half of the wrapping key can make a package. Take "
                        + "the fingerprint from the person who wrapped the key.")
            }
            guard fingerprint == nil || fingerprint.flatMap({ PublicKeyFingerprint($0) }) != nil else {
                throw ValidationError("--fingerprint must be sha256: and 64 hexadecimal digits.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            _ = ProcessHardening.apply()
            let configuration = try provisioning.admin.loadConfiguration()
            let targets = try ProvisioningTarget.all(
                into, of: keyID, option: "--into", as: provisioning.user, configuration)
            let client = try await provisioning.admin.lifecycleClient(configuration)
            let issuerID = try await provisioning.issuerID(configuration, client)
            let incoming = try await read(count: targets.count)
            let found = PublicKeyFingerprint(of: incoming[0].publicKey)
            if let other = incoming.map({ PublicKeyFingerprint(of: $0.publicKey) }).first(where: { $0 != found }) {
                throw CommandError("The packages hold different keys: the fingerprints are \(found) and \(other).")
            }
            if let wanted = fingerprint.flatMap({ PublicKeyFingerprint($0) }), wanted != found {
                throw CommandError("The key is another one: its fingerprint is \(found), not \(wanted).")
            }
            StandardError.print("The key \(keyID) has the fingerprint \(found).")
            let order = ProvisioningOrder(
                .import, issuerID: issuerID, keyID: keyID, uri: "\(targets[0].uri)",
                replicas: targets.dropFirst().map { "\($0.uri)" }, fingerprint: found, reason: reason)
            let work = try await provisioning.perform(order, client, targets) { locations in
                let names = locations.map { "the \($0.name) (serial \($0.serial), \($0.model))" }
                return "It goes into \(names.joined(separator: " and "))."
            } work: { number, session, isResumed in
                let placed = try await session.take(
                    incoming[number], as: targets[number].selector, isResumed: isResumed, allowsClear: allowsClear,
                    tell: { StandardError.print("  \($0)") })
                return (placed, placed.reported(in: session.location))
            }
            guard let work,
                let report = ProvisionedKeyReport(
                    work: work, targets, gatewayOption: provisioning.admin.gatewayOption)
            else { return }
            let isFileGone = disposeOfFile(isImported: report.state != nil)
            provisioning.output.show(report.members(isFileDestroyed: isFileGone), text: report.text)
        }

        /// - Returns: the key for each place.
        private func read(count: Int) async throws -> [IncomingKey] {
            if let file { return [IncomingKey](repeating: .plain(try await key.material(of: file)), count: count) }
            guard wrapped.count == count else {
                throw CommandError(
                    "There are \(wrapped.count) packages for \(count) places, and a package opens in one token only. Give one "
                        + "--wrapped for each place, in the order of the places.")
            }
            return try wrapped.map { .wrapped(try KeyPackage(parsing: try KeyFileOption.transported($0)).key) }
        }

        /// - Parameter isImported: whether the gateway has seen the key. Before, the file may be needed again.
        /// - Returns: whether the file was destroyed; nil without a file.
        private func disposeOfFile(isImported: Bool) -> Bool? {
            guard let file else { return nil }
            guard isImported else {
                StandardError.print(
                    "\(file) was kept, because the gateway has not seen the key yet. Destroy it and its copies when privyseal "
                        + "keys states shows the key as staged.")
                return false
            }
            StandardError.print(KeyFileDestruction.limits)
            var isConfirmed = destroysFile
            if !isConfirmed, !provisioning.consent.yes, isatty(STDIN_FILENO) == 1 {
                StandardError.print("Destroy \(file) now: overwrite and remove it? Type yes.")
                isConfirmed = readLine()?.lowercased() == "yes"
            }
            guard isConfirmed else {
                StandardError.print("\(file) still has the key outside of the token. Destroy it and its copies.")
                return false
            }
            do {
                try KeyFileDestruction(path: file).run()
                StandardError.print("\(file) was overwritten and removed.")
                return true
            } catch {
                StandardError.print("warning: \(error)")
                return false
            }
        }
    }
}
