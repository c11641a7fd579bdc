import KeyDrills
import SigningGateway
import SigningKit

/// The key under an ID is not the one that was pinned: it must never get active.
struct WrongKeyImported {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        let active = try await stage.observe(sheet)
        let keyID = try stage.replacementKey()
        sheet.newKey = keyID
        if let throwAway = stage.throwAway {
            try await imports(throwAway, keyID, sheet)
            try await declarations(throwAway, sheet)
            try await replace(throwAway, keyID, sheet)
        }
        try await refuseProof(keyID, sheet)
        try await look(keyID, sheet)
        await refuseActivation(keyID, active, sheet)
        await stage.refusesName(keyID, sheet, because: "nothing is signed with it")
        await untouched(active, sheet)
    }

    // MARK: On a throw-away token

    /// Files with other keys.
    private func imports(_ throwAway: ThrowAwayGateway, _ keyID: String, _ sheet: DrillSheet) async throws {
        let wanted = try await stage.key(keyID).life.fingerprint
        await sheet.step(
            "Import a file with another key, saying which fingerprint is wanted",
            expected: "The import is refused with a sentence, and the token has no new key."
        ) {
            Self.refusal(try await throwAway.importOtherFile(as: "DRILLWRNG0", expecting: wanted))
        }
        await sheet.step(
            "Import a file with another key under the ID \(keyID), which is taken",
            expected: "The import is refused with a sentence."
        ) {
            Self.refusal(try await throwAway.importOtherFile(as: keyID, expecting: nil))
        }
    }

    private static func refusal(_ outcome: (status: Int32, text: String)) -> DrillSheet.Finding {
        let line = outcome.text.split(separator: "\n").last.map(String.init) ?? ""
        return .when(
            outcome.status == 1 && Refusal.isSentence(line), "It ended with \(outcome.status): \(line)")
    }

    /// Keys on the token that are not what the configuration says they are.
    private func declarations(_ throwAway: ThrowAwayGateway, _ sheet: DrillSheet) async throws {
        let (other, torn) = (try await throwAway.makeOtherKey(), try await throwAway.makeTornKey())
        for (key, what) in [
            (other, "another key than the pinned one"), (torn, "a private key that does not belong to the pinned one"),
        ] {
            await sheet.step(
                "Declare \(key.keyID), under which the token has \(what), and reload",
                expected: "The reload is refused with a sentence, and nothing has changed."
            ) {
                try await Refusal.of { try await throwAway.declare(key) }
            }
        }
    }

    private func replace(_ throwAway: ThrowAwayGateway, _ keyID: String, _ sheet: DrillSheet) async throws {
        try await sheet.essential(
            "Put another key in the place of \(keyID), on the token itself", expected: "The token has the other one."
        ) {
            try await throwAway.replaceStagedKey()
            return .asExpected("It has; the gateway was not told.")
        }
    }

    // MARK: Anywhere

    /// Without a refusal here nothing else is tried: the key might be the right one, and get active.
    private func refuseProof(_ keyID: String, _ sheet: DrillSheet) async throws {
        try await sheet.essential("Have \(keyID) prove itself", expected: "It cannot, and the gateway says why.") {
            try await Refusal.of { _ = try await stage.desk.prove(keyID) }
        }
    }

    private func look(_ keyID: String, _ sheet: DrillSheet) async throws {
        try await sheet.essential("Look at \(keyID)", expected: "It is staged, and the gateway complains about it.") {
            let isSeen = try await stage.wait(DrillStage.eventLimit) { try await stage.key(keyID).complaint != nil }
            let key = try await stage.key(keyID)
            return .when(
                isSeen && key.life.state == .staged && key.fitness != "ready",
                "It is \(key.life.state.rawValue) and \(key.fitness ?? "unknown"). \(key.complaint ?? "No complaint.")")
        }
    }

    private func refuseActivation(_ keyID: String, _ active: String, _ sheet: DrillSheet) async {
        await sheet.step("Activate \(keyID)", expected: "It is refused with a sentence.") {
            try await Refusal.of {
                _ = try await stage.desk.change(
                    KeyChangeOrder(.activate, keyID, reason: "Drill", retiring: active, overlap: stage.overlap))
            }
        }
    }

    private func untouched(_ active: String, _ sheet: DrillSheet) async {
        await sheet.step(
            "See that nothing has changed", expected: "\(active) is active, and requests are served with it."
        ) {
            let begin = sheet.now()
            let first = await stage.load.ledger.first(within: DrillStage.eventLimit) { $0.begun >= begin }
            let now = try await stage.activeKey()
            return .when(
                now == active && first?.keyID == active,
                "\(now) is active; the next request was \(first?.keyID.map { "served with \($0)" } ?? "not served").")
        }
    }
}
