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

                  privyseal keys import AuthKey_2X9R4HXF34.p8 --key-id 2X9R4HXF34 --config gateway.yaml \\
                    --into 'pkcs11:token=appstore?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/pin'

                To continue an interrupted import, run the same command again.
                The exit status is 0 if the key is in the token or the import was proposed, 1 if it is not, 64 if the \
                command could not ask for confirmation, and 78 if the configuration is wrong.
                """)

        @Argument(help: ArgumentHelp("The .p8 file.", valueName: "key.p8"), completion: .file())
        var file: String?

        @Option(help: ArgumentHelp("A package from keys wrap, in place of the .p8.", valueName: "package"))
        var wrapped: String?

        @Option(help: ArgumentHelp("The key's location: a pkcs11: URI as in the configuration.", valueName: "uri"))
        var into: String

        @Option(help: ArgumentHelp("The key's ID, as App Store Connect shows it.", valueName: "key-id"))
        var keyID: String

        @Option(help: ArgumentHelp("The expected fingerprint from another source: sha256:…", valueName: "fingerprint"))
        var fingerprint: String?

        @Option(help: "The reason to record.")
        var reason = "key import"

        @Flag(name: .customLong("destroy-file"), help: "Destroy the .p8 afterwards, without asking.")
        var destroysFile = false

        @Flag(
            name: .customLong("allow-clear-import"),
            help: "Send the key in the clear (C_CreateObject) to a token that cannot unwrap; else it is refused.")
        var allowsClear = false

        @OptionGroup var key: KeyFileOption
        @OptionGroup var provisioning: ProvisioningOption

        func validate() throws {
            guard (file == nil) != (wrapped == nil) else {
                throw ValidationError("Give the .p8 file, or --wrapped PACKAGE.")
            }
            guard !allowsClear || file != nil else {
                throw ValidationError("--allow-clear-import is for a .p8 file; a package is opened in the token.")
            }
            guard !destroysFile || file != nil else {
                throw ValidationError("--destroy-file is for a .p8 file; a package is of no use to others.")
            }
            guard fingerprint == nil || fingerprint.flatMap({ PublicKeyFingerprint($0) }) != nil else {
                throw ValidationError("--fingerprint must be sha256: and 64 hexadecimal digits.")
            }
        }

        func run() async throws {
            LogSetup.bootstrapQuietly()
            _ = ProcessHardening.apply()
            let configuration = try provisioning.admin.loadConfiguration()
            let target = try ProvisioningTarget(into, keyID: keyID, as: provisioning.user, configuration)
            let client = try await provisioning.admin.lifecycleClient(configuration)
            let issuerID = try await provisioning.issuerID(configuration, client)
            let incoming = try await read()
            let found = PublicKeyFingerprint(of: incoming.publicKey)
            if let wanted = fingerprint.flatMap({ PublicKeyFingerprint($0) }), wanted != found {
                throw CommandError("The key is another one: its fingerprint is \(found), not \(wanted).")
            }
            StandardError.print("The key \(keyID) has the fingerprint \(found).")
            let order = ProvisioningOrder(
                .import, issuerID: issuerID, keyID: keyID, uri: "\(target.uri)", fingerprint: found, reason: reason)
            let work = try await provisioning.perform(order, client, target) { location in
                "It goes into the \(location.name) (serial \(location.serial), \(location.model))."
            } work: { session, isResumed in
                let placed = try await session.take(
                    incoming, as: target.selector, isResumed: isResumed, allowsClear: allowsClear,
                    tell: { StandardError.print("  \($0)") })
                return (placed, placed.reported(in: session.location))
            }
            guard let work else { return }
            let isFileGone = disposeOfFile()
            let report = ProvisionedKeyReport(work: work, uri: target.uri)
            provisioning.output.show(report.members(isFileDestroyed: isFileGone), text: report.text)
        }

        private func read() async throws -> IncomingKey {
            if let file { return .plain(try await key.material(of: file)) }
            return .wrapped(try KeyPackage(parsing: try KeyFileOption.transported(wrapped ?? "-")).key)
        }

        /// - Returns: whether the file was destroyed; nil without a file.
        private func disposeOfFile() -> Bool? {
            guard let file else { return nil }
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
