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

    /// A token may hang.
    private static let commandLimit = Duration.seconds(300)

    /// Runs a command of this program.
    private func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        let child = try ChildProcess(arguments, log: "\(directory)/command.log")
        return (await child.wait(Self.commandLimit), child.output)
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
        let key = P256.Signing.PrivateKey()
        let file = "\(directory)/AuthKey_\(keyID).p8"
        try DurableWrite.create(file, key.pemRepresentation, mode: 0o600)
        let second = try await tokens.makeToken("backup")
        let package = try await wrap(file, for: token)
        let backup = Backup(
            keyID: keyID, fingerprint: PublicKeyFingerprint(of: key.publicKey), token: second,
            package: try await wrap(file, for: second))
        try FileManager.default.removeItem(atPath: file)
        try await importPackage(of: backup, package, into: token)
        try await declare(
            .init(keyID: keyID, uri: tokens.uri(token, object: keyID), fingerprint: backup.fingerprint))
        return backup
    }

    /// - Returns: the path of the package, made by the steps of the token and of the offline machine.
    private func wrap(_ file: String, for token: TemporaryTokens.Token) async throws -> String {
        let (pem, package) = ("\(directory)/\(token.label).wrapping.pem", "\(directory)/\(token.label).package")
        try await finish(["keys", "wrapping-key", "--into", tokens.uri(token, object: "wrapping"), "--out", pem])
        try await finish(["keys", "wrap", file, "--for", pem, "--out", package])
        return package
    }

    /// - Parameter package: of the backup's key, for this token.
    func importPackage(of backup: Backup, _ package: String, into token: TemporaryTokens.Token) async throws {
        try await finish(importCommand(["--wrapped", package], backup.keyID, backup.fingerprint, into: token))
    }

    /// Generates another key's file, and tries to import it.
    ///
    /// - Parameter fingerprint: of the wanted key, which the file does not hold; nil to name none.
    /// - Returns: the status and the output of `privyseal keys import`.
    func importOtherFile(
        as keyID: String, expecting fingerprint: PublicKeyFingerprint?
    ) async throws -> (status: Int32, text: String) {
        let file = "\(directory)/AuthKey_\(UUID().uuidString).p8"
        try DurableWrite.create(file, P256.Signing.PrivateKey().pemRepresentation, mode: 0o600)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try await run(importCommand([file], keyID, fingerprint, into: token))
    }

    private func importCommand(
        _ source: [String], _ keyID: String, _ fingerprint: PublicKeyFingerprint?, into token: TemporaryTokens.Token
    ) -> [String] {
        ["keys", "import"] + source + (fingerprint.map { ["--fingerprint", "\($0)"] } ?? []) + [
            "--into", tokens.uri(token, object: keyID), "--key-id", keyID, "--issuer", Self.issuerID, "--reason",
            "Drill", "--config", configurationPath, "--yes",
        ]
    }

    /// The gateway restarts a module without tokens at most twice a minute. Until then, it does not see the second
    /// token and refuses the configuration.
    ///
    /// - Returns: the number of attempts.
    func point(to backup: Backup) async throws -> Int {
        let uri = tokens.uri(backup.token, object: backup.keyID)
        let end = ContinuousClock.now + DrillRun.moduleLimit
        var attempts = 0
        while true {
            attempts += 1
            do {
                try await reconfigure { accounts in
                    guard let index = accounts[0].keys.firstIndex(where: { $0.keyID == backup.keyID }) else { return }
                    accounts[0].keys[index].uri = uri
                }
                return attempts
            } catch AdminError.refused(let reason) {
                guard ContinuousClock.now < end else { throw AdminError.refused(reason) }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
