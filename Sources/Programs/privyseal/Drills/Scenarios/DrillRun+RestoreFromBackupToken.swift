import KeyDrills
import KeyLifecycle
import Signing

extension DrillRun {
    /// The token is lost permanently. The same key is restored into another token from a wrapped package.
    func restoreFromBackupToken() async throws {
        guard let throwAway = environment.throwAway else {
            throw DrillError("This scenario loses a token permanently: use --throw-away.")
        }
        let old = try await observe()
        var made: TemporaryGateway.Backup?
        try await log.essential(
            "Prepare: wrap a key for two tokens, destroy its file, and import it into the first",
            expected: "The key is on the token; of the file there is only a package that the second token can open."
        ) {
            let backup = try await throwAway.prepareBackup()
            made = backup
            log.prove("import", backup.keyID, "fingerprint \(backup.fingerprint)")
            return .asExpected("It is; its fingerprint is \(backup.fingerprint).")
        }
        guard let backup = made else { throw DrillError("There is no package to restore from.") }
        try await prove(backup.keyID)
        try await activate(backup.keyID, retiring: old)
        // So that the record shows the key in use before its loss.
        try await Task.sleep(for: Self.baselineDuration)
        let lost = try await loseToken("Lose the token permanently")
        let begun = log.now()
        try await log.essential(
            "Import the package into the backup token",
            expected: "The key is there, and proves that it has the fingerprint that is on record."
        ) {
            try await throwAway.importPackage(of: backup, backup.package, into: backup.token)
            return .asExpected("It does: \(backup.fingerprint).")
        }
        try await log.essential(
            "Point the gateway to the backup token, by a reload", expected: "The gateway takes the configuration up."
        ) {
            let attempts = try await throwAway.point(to: backup)
            if attempts > 1 {
                log.deviate("The gateway refused the new configuration \(attempts - 1) times before it took it up.")
            }
            return .asExpected(attempts == 1 ? "It has." : "It has, after \(attempts) attempts.")
        }
        await recover(
            "Wait until service is back", expected: "Requests are served with \(backup.keyID), and /readyz says yes.",
            with: backup.keyID, since: begun, lost: lost
        ) { "\(log.time(\.restoration, from: begun, to: $0.ended)) ms after the restoration had begun" }
        await log.step(
            "Compare the key with the one before", expected: "It is the same public key, and the key is still active."
        ) {
            try await load.refreshKeys()
            let isSame =
                load.keys.fingerprint(of: backup.keyID) == backup.fingerprint
                && !load.keys.changed.contains(backup.keyID)
            let state = try await key(backup.keyID).life.state
            return .when(
                isSame && state == .active, "It is \(isSame ? "the same" : "another one"), and \(state.rawValue).")
        }
    }
}
