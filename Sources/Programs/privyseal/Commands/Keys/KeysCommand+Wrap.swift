import ArgumentParser
import KeyTransport
import ServiceManager
import SigningKit
import StrictJSON

extension KeysCommand {
    struct Wrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wrap",
            abstract: "Make a package of a .p8 that only one token can open; for a machine without a network.",
            discussion: """
                  privyseal keys wrap AuthKey_2X9R4HXF34.p8 --for wrapping.pem --out AuthKey_2X9R4HXF34.wrapped

                The public wrapping key comes from keys wrapping-key, the package goes into keys import --wrapped.
                """)

        @Argument(help: ArgumentHelp("The .p8 file.", valueName: "key.p8"), completion: .file())
        var file: String

        @Option(
            name: .customLong("for"), help: ArgumentHelp("The token's public wrapping key, in PEM.", valueName: "file"))
        var recipient: String

        @Option(help: ArgumentHelp("The package; it must not be there yet.", valueName: "file"))
        var out: String

        @OptionGroup var key: KeyFileOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            _ = ProcessHardening.apply()
            try await KeyCommandError.said {
                try NewFile.check(out)
                let pem = String(decoding: try VerifyFile.contents(of: recipient), as: UTF8.self)
                let wrappingKey = try WrappingKey(pem: pem)
                let package = try wrappingKey.wrap(try await key.material(of: file))
                try NewFile.write(
                    String(decoding: KeyPackage(package).jsonBytes(), as: UTF8.self) + "\n", to: out, mode: 0o600)
                print(report(package))
            }
        }

        private func report(_ package: WrappedKey) -> String {
            let fingerprint = PublicKeyFingerprint(of: package.publicKey)
            guard output.format == .json else {
                return """
                    The key \(fingerprint)
                    is wrapped for \(package.wrappingKey) in \(out).
                    Compare the second fingerprint with the one that keys wrapping-key printed: whoever has another \
                    wrapping key could open the package.
                    Next, at the gateway: privyseal keys import --wrapped \(out) --fingerprint \(fingerprint) …
                    """
            }
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("package", out)
                writer.member("fingerprint", fingerprint.description)
                writer.member("wrappingKeyFingerprint", package.wrappingKey.description)
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    struct WrappingKeyPair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wrapping-key",
            abstract: "Have a token make the pair for which keys wrap makes packages.",
            discussion: """
                RSA, 3072 bits. The private key is made in the token, unwraps, and does nothing else.

                  privyseal keys wrapping-key --out wrapping.pem \\
                    --into 'pkcs11:token=appstore;object=wrapping-2026?module-path=…&pin-source=file:/run/pin'
                """)

        @Option(help: ArgumentHelp("Where the pair is to be: a pkcs11: URI with object=.", valueName: "uri"))
        var into: String

        @Option(help: ArgumentHelp("The public key's file; it must not be there yet.", valueName: "file"))
        var out: String

        @OptionGroup var user: TokenUserOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            try await KeyCommandError.said {
                try NewFile.check(out)
                let target = try ProvisioningTarget(into, as: user)
                let provisioningSession = try await target.provisioningSession()
                let made: GeneratedWrappingKey
                do { made = try await provisioningSession.makeWrappingKey(as: target.address.selector) } catch {
                    await provisioningSession.close()
                    throw error
                }
                await provisioningSession.close()
                try NewFile.write(WrappingKey.file(made), to: out)
                print(report(PublicKeyFingerprint(ofDER: made.der), made.hash))
            }
        }

        private func report(_ fingerprint: PublicKeyFingerprint, _ hash: WrappingHash) -> String {
            guard output.format == .json else {
                return """
                    The wrapping key's public half is in \(out).
                    Its fingerprint is \(fingerprint).
                    The token unwraps by RSA-OAEP with \(hash.rawValue); the file says so to keys wrap.
                    Next: take the file to the machine that has the .p8, and tell the fingerprint by another way.
                    """
            }
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("publicKeyFile", out)
                writer.member("fingerprint", fingerprint.description)
                writer.member("hash", hash.rawValue)
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
