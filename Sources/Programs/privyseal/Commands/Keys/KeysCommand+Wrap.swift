import ArgumentParser
import KeyTransport
import ServiceManager
import SigningKit
import StrictJSON

extension KeysCommand {
    struct Wrap: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wrap",
            abstract: "Wrap a .p8 in a package that only one token can open; for a machine without a network.",
            discussion: """
                  privyseal keys wrap AuthKey_2X9R4HXF34.p8 --for wrapping.pem \\
                    --out AuthKey_2X9R4HXF34.wrapped

                keys wrapping-key makes the public wrapping key; keys import --wrapped imports the package.
                """)

        @Argument(help: ArgumentHelp("The .p8 file.", valueName: "key.p8"), completion: .file())
        var file: String

        @Option(
            name: .customLong("for"), help: ArgumentHelp("The token's public wrapping key, in PEM.", valueName: "file"))
        var recipient: String

        @Option(help: ArgumentHelp("A file for the package; it must not exist yet.", valueName: "file"))
        var out: String

        @OptionGroup var key: KeyFileOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            _ = ProcessHardening.apply()
            try DurableWrite.requireFree(out)
            let pem = String(decoding: try KeyFileOption.transported(recipient), as: UTF8.self)
            let wrappingKey = try WrappingKey(pem: pem)
            let package = try wrappingKey.wrap(try await key.material(of: file))
            try DurableWrite.create(out, JSONText.string(KeyPackage(package)) + "\n", mode: 0o600)
            let fingerprint = PublicKeyFingerprint(of: package.publicKey)
            output.show(
                [
                    "package": out, "fingerprint": fingerprint, "wrappingKeyFingerprint": package.wrappingKey,
                ] as JSONMembers,
                text: """
                    The key \(fingerprint)
                    is wrapped for \(package.wrappingKey) in \(out).
                    Compare the second fingerprint with the one that keys wrapping-key printed: if they differ, the \
                    owner of the other key could open the package.
                    Next, at the gateway: privyseal keys import --wrapped \(out) --fingerprint \(fingerprint) …
                    """)
        }
    }

    struct WrappingKeyPair: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wrapping-key",
            abstract: "Generate the key pair for keys wrap in a token.",
            discussion: """
                The pair is RSA with 3072 bits. The token generates the private key, which can only unwrap.

                  module=/usr/lib/softhsm/libsofthsm2.so
                  pair="pkcs11:token=appstore;object=wrapping-2026?module-path=$module"
                  privyseal keys wrapping-key --out wrapping.pem \\
                    --into "$pair&pin-source=file:/run/pin"
                """)

        @Option(
            help: ArgumentHelp(
                "The pair's location: a pkcs11: URI with object=, or the awskms: URI of the key.", valueName: "uri"))
        var into: String

        @Option(help: ArgumentHelp("A file for the public key; it must not exist yet.", valueName: "file"))
        var out: String

        @OptionGroup var user: TokenUserOption
        @OptionGroup var output: OutputOption

        func run() async throws {
            LogSetup.bootstrapQuietly()
            try DurableWrite.requireFree(out)
            let target = try ProvisioningTarget(into, as: user)
            let made = try await target.withSession { session in
                try await session.makeWrappingKey(as: target.selector)
            }
            try DurableWrite.create(out, WrappingKey.file(made))
            let fingerprint = PublicKeyFingerprint(ofDER: made.der)
            output.show(
                ["publicKeyFile": out, "fingerprint": fingerprint, "hash": made.hash.rawValue] as JSONMembers,
                text: """
                    The wrapping key's public half is in \(out).
                    Its fingerprint is \(fingerprint).
                    The token unwraps by RSA-OAEP with \(made.hash.rawValue); keys wrap reads this from the file.
                    Next: take the file to the machine that has the .p8, and send the fingerprint over another channel.
                    """)
        }
    }
}
