import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// The token is lost permanently. The same key is restored into another token from a wrapped package.
struct RestoreFromBackupToken {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        guard let throwAway = environment.throwAway else {
            throw DrillError("This scenario loses a token permanently: use --throw-away.")
        }
        let old = try await environment.observe(log)
        let backup = try await prepare(throwAway, log)
        try await environment.prove(backup.keyID, log)
        try await environment.activate(backup.keyID, retiring: old, log)
        // So that the record shows the key in use before its loss.
        try await Task.sleep(for: DrillEnvironment.baselineDuration)
        let lost = try await environment.loseToken("Lose the token permanently", log)
        let begun = try await restore(throwAway, backup, log)
        try await recover(backup, lost, begun, log)
        await compare(backup, log)
    }

    private func prepare(
        _ throwAway: TemporaryGateway, _ log: DrillLog
    ) async throws -> TemporaryGateway.Backup {
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
        guard let made else { throw DrillError("There is no package to restore from.") }
        return made
    }

    /// - Returns: when the restoration began.
    private func restore(
        _ throwAway: TemporaryGateway, _ backup: TemporaryGateway.Backup, _ log: DrillLog
    ) async throws -> Timestamp {
        let begun = log.now()
        try await log.essential(
            "Import the package into the backup token",
            expected: "The key is there, and proves that it has the fingerprint that is on record."
        ) {
            try await throwAway.restore(backup)
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
        return begun
    }

    private func recover(
        _ backup: TemporaryGateway.Backup, _ lost: Timestamp, _ begun: Timestamp, _ log: DrillLog
    ) async throws {
        try await log.essential(
            "Wait until service is back", expected: "Requests are served with \(backup.keyID), and /readyz says yes."
        ) {
            guard let first = await environment.answer(where: { $0.isServed && $0.begun >= begun }) else {
                return .not("No request was served.")
            }
            let span = log.time(\.restoration, from: begun, to: first.ended)
            log.time(\.recovery, from: lost, to: first.ended)
            let isReady = try await environment.waitForReadiness(200)
            log.rules.endOutage(log.now())
            return .when(
                isReady && first.keyID == backup.keyID,
                "The first answer came \(span) ms after the restoration had begun, signed with "
                    + "\(first.keyID ?? "no key"); /readyz says \(isReady ? "yes" : "no").")
        }
    }

    private func compare(_ backup: TemporaryGateway.Backup, _ log: DrillLog) async {
        await log.step(
            "Compare the key with the one before", expected: "It is the same public key, and the key is still active."
        ) {
            try await environment.load.refreshKeys()
            let (shown, life) = (
                environment.load.keys.fingerprint(of: backup.keyID), try await environment.key(backup.keyID).life
            )
            let isSame = shown == backup.fingerprint && !environment.load.keys.changed.contains(backup.keyID)
            return .when(
                isSame && life.state == .active,
                "It is \(isSame ? "the same" : "another one"), and \(life.state.rawValue).")
        }
    }
}
