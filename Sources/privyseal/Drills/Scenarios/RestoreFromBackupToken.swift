import KeyDrills
import SigningGateway
import SigningKit

/// The token is lost for good; the same key is restored into another one from a wrapped package.
struct RestoreFromBackupToken {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        guard let throwAway = stage.throwAway else {
            throw DrillError("This scenario loses a token for good: it is done with --throw-away only.")
        }
        let old = try await stage.observe(sheet)
        let backup = try await prepare(throwAway, sheet)
        try await stage.prove(backup.keyID, sheet)
        try await stage.activate(backup.keyID, retiring: old, sheet)
        // So that the picture shows the key at work before it is lost.
        try await Task.sleep(for: DrillStage.calm)
        let lost = try await lose(throwAway, sheet)
        let begun = try await restore(throwAway, backup, sheet)
        try await recover(backup, lost, begun, sheet)
        await compare(backup, sheet)
    }

    private func prepare(
        _ throwAway: ThrowAwayGateway, _ sheet: DrillSheet
    ) async throws -> ThrowAwayGateway.Backup {
        var made: ThrowAwayGateway.Backup?
        try await sheet.essential(
            "Prepare: wrap a key for two tokens, destroy its file, and import it into the first",
            expected: "The key is on the token; of the file there is only a package that the second token can open."
        ) {
            let backup = try await throwAway.prepareBackup()
            made = backup
            sheet.prove("import", backup.keyID, "fingerprint \(backup.fingerprint)")
            return .asExpected("It is; its fingerprint is \(backup.fingerprint).")
        }
        guard let made else { throw DrillError("There is no package to restore from.") }
        return made
    }

    private func lose(_ throwAway: ThrowAwayGateway, _ sheet: DrillSheet) async throws -> Timestamp {
        var lost = sheet.now()
        try await sheet.essential(
            "Lose the token for good", expected: "Requests are refused with 503, and none is wrongly signed."
        ) {
            sheet.rules.beginOutage(lost)
            try throwAway.unplug()
            lost = sheet.now()
            let start = lost
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) {
                $0.isFailed && $0.ended >= start
            }
            guard let first else { return .not("No request was refused.") }
            sheet.time(.detection, from: lost, to: first.ended)
            return .when(
                first.outcome == .failed("503"),
                "The first request was refused \(sheet.timings[.detection] ?? 0) ms later.")
        }
        return lost
    }

    /// - Returns: when the restoration began.
    private func restore(
        _ throwAway: ThrowAwayGateway, _ backup: ThrowAwayGateway.Backup, _ sheet: DrillSheet
    ) async throws -> Timestamp {
        let begun = sheet.now()
        try await sheet.essential(
            "Import the package into the backup token",
            expected: "The key is there, and proves that it has the fingerprint that is on record."
        ) {
            try await throwAway.restore(backup)
            return .asExpected("It does: \(backup.fingerprint).")
        }
        try await sheet.essential(
            "Point the gateway to the backup token, by a reload", expected: "The gateway takes the configuration up."
        ) {
            let attempts = try await throwAway.point(to: backup)
            if attempts > 1 {
                sheet.deviate("The gateway refused the new configuration \(attempts - 1) times before it took it up.")
            }
            return .asExpected(attempts == 1 ? "It has." : "It has, after \(attempts) attempts.")
        }
        return begun
    }

    private func recover(
        _ backup: ThrowAwayGateway.Backup, _ lost: Timestamp, _ begun: Timestamp, _ sheet: DrillSheet
    ) async throws {
        try await sheet.essential(
            "Wait until service is back", expected: "Requests are served with \(backup.keyID), and /readyz says yes."
        ) {
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) {
                $0.isServed && $0.begun >= begun
            }
            guard let first else { return .not("No request was served.") }
            sheet.time(.restoration, from: begun, to: first.ended)
            sheet.time(.recovery, from: lost, to: first.ended)
            let isReady = try await stage.wait(DrillStage.eventLimit) { await stage.load.readiness() == 200 }
            sheet.rules.endOutage(sheet.now())
            return .when(
                isReady && first.keyID == backup.keyID,
                "The first answer came \(sheet.timings[.restoration] ?? 0) ms after the restoration had begun, signed with "
                    + "\(first.keyID ?? "no key"); /readyz says \(isReady ? "yes" : "no").")
        }
    }

    private func compare(_ backup: ThrowAwayGateway.Backup, _ sheet: DrillSheet) async {
        await sheet.step(
            "Compare the key with the one before", expected: "It is the same public key, and the key is still active."
        ) {
            try await stage.load.refreshKeys()
            let (shown, life) = (
                stage.load.keys.fingerprint(of: backup.keyID), try await stage.key(backup.keyID).life
            )
            let isSame = shown == backup.fingerprint && !stage.load.keys.changed.contains(backup.keyID)
            return .when(
                isSame && life.state == .active,
                "It is \(isSame ? "the same" : "another one"), and \(life.state.rawValue).")
        }
    }
}
