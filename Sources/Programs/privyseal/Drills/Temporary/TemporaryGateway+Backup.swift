import Crypto
import Foundation
import KeyDrills
import SigningKit

/// A key from a .p8 file, as Apple issues it: on the gateway's token, and wrapped for a second one.
extension TemporaryGateway {
    struct Backup: Sendable {
        let keyID: String
        let fingerprint: PublicKeyFingerprint
        let token: TemporaryTokens.Token
        /// The path of a package that only the second token can open.
        let package: String
    }

    /// Runs a command of this program that finds the tokens.
    private func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        try await ChildProcess.run(
            arguments, environment: ["SOFTHSM2_CONF": tokens.configurationPath], log: "\(directory)/command.log")
    }

    /// - Throws: `DrillError` with the output, unless the status is 0.
    private func finish(_ arguments: [String]) async throws {
        let (status, text) = try await run(arguments)
        guard status != 0 else { return }
        throw DrillError("privyseal \(arguments.prefix(2).joined(separator: " ")) ended with \(status): \(text)")
    }

    /// Generates the key, wraps it for both tokens, removes its file, imports it into the first token, and declares it.
    func prepareBackup() async throws -> Backup {
        let keyID = "DRILLKEY03"
        let backup = try await tokens.makeToken("backup")
        let file = "\(directory)/AuthKey_\(keyID).p8"
        let key = P256.Signing.PrivateKey()
        try DurableWrite.create(file, key.pemRepresentation, mode: 0o600)
        let fingerprint = PublicKeyFingerprint(of: key.publicKey)
        let first = try await wrap(file, for: token)
        let second = try await wrap(file, for: backup)
        try FileManager.default.removeItem(atPath: file)
        try await importPackage(first, keyID, fingerprint, into: token)
        try await reconfigure { configuration in
            configuration.accounts[0].keys.append(
                .init(keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: fingerprint))
        }
        return Backup(keyID: keyID, fingerprint: fingerprint, token: backup, package: second)
    }

    /// - Returns: the path of the package, made by the steps of the token and of the offline machine.
    private func wrap(_ file: String, for token: TemporaryTokens.Token) async throws -> String {
        let (pem, package) = ("\(directory)/\(token.label).wrapping.pem", "\(directory)/\(token.label).package")
        try await finish(["keys", "wrapping-key", "--into", tokens.uri(token, object: "wrapping"), "--out", pem])
        try await finish(["keys", "wrap", file, "--for", pem, "--out", package])
        return package
    }

    private func importPackage(
        _ package: String, _ keyID: String, _ fingerprint: PublicKeyFingerprint, into token: TemporaryTokens.Token
    ) async throws {
        try await finish(
            importCommand(["--wrapped", package], keyID, into: token) + ["--fingerprint", "\(fingerprint)"])
    }

    private func importCommand(
        _ source: [String], _ keyID: String, into token: TemporaryTokens.Token
    ) -> [String] {
        ["keys", "import"] + source + [
            "--into", tokens.uri(token, object: keyID), "--key-id", keyID, "--issuer", Self.issuerID, "--reason",
            "Drill", "--config", configurationPath, "--yes",
        ]
    }

    /// - Parameter fingerprint: of the wanted key, which the file does not hold; nil to name none.
    /// - Returns: the status and the output of `privyseal keys import`.
    func importOtherFile(
        as keyID: String, expecting fingerprint: PublicKeyFingerprint?
    ) async throws -> (status: Int32, text: String) {
        let file = "\(directory)/AuthKey_\(UUID().uuidString).p8"
        try DurableWrite.create(file, P256.Signing.PrivateKey().pemRepresentation, mode: 0o600)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let wanted = fingerprint.map { ["--fingerprint", "\($0)"] } ?? []
        return try await run(importCommand([file], keyID, into: token) + wanted)
    }

    /// Imports the key into the second token.
    func restore(_ backup: Backup) async throws {
        try await importPackage(backup.package, backup.keyID, backup.fingerprint, into: backup.token)
    }

    /// The gateway restarts a module without tokens at most twice a minute. Until then, it does not see the second
    /// token and refuses the configuration.
    ///
    /// - Returns: the number of attempts.
    func point(to backup: Backup) async throws -> Int {
        let uri = tokens.uri(backup.token, object: backup.keyID)
        let end = ContinuousClock.now + DrillEnvironment.moduleLimit
        var attempts = 0
        while true {
            attempts += 1
            do {
                try await reconfigure { configuration in
                    for index in configuration.accounts[0].keys.indices
                    where configuration.accounts[0].keys[index].keyID == backup.keyID {
                        configuration.accounts[0].keys[index].uri = uri
                    }
                }
                return attempts
            } catch AdminError.refused(let reason) {
                guard ContinuousClock.now < end else { throw AdminError.refused(reason) }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
