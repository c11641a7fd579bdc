import KeyDrills
import SigningGateway
import SigningKit

/// The key under an ID is not the one that was pinned: it must never get active.
struct WrongKeyImported {
    let stage: DrillStage

    func perform(_ sheet: DrillSheet) async throws {
        let active = try await stage.observe(sheet)
        for (keyID, what) in try await wrongKeys(sheet) {
            try await look(keyID, what, sheet)
            try await refuseProof(keyID, sheet)
            await refuseActivation(keyID, active, sheet)
            await stage.refusesName(keyID, sheet, because: "nothing is signed with it")
        }
        await untouched(active, sheet)
    }

    /// Key IDs, and in what they are wrong.
    private func wrongKeys(_ sheet: DrillSheet) async throws -> [(keyID: String, what: String)] {
        guard let throwAway = stage.throwAway else {
            return [(try stage.replacementKey(), "the key that was named with --new")]
        }
        var keys: [(keyID: String, what: String)] = []
        try await sheet.essential(
            "Put wrong keys on the token, and declare them",
            expected: "The gateway takes up the configuration; the keys are staged."
        ) {
            keys = try await throwAway.declareWrongKeys()
            return .asExpected(keys.map { "\($0.keyID): \($0.what)" }.joined(separator: "; ") + ".")
        }
        return keys
    }

    private func look(_ keyID: String, _ what: String, _ sheet: DrillSheet) async throws {
        try await sheet.essential(
            "Look at \(keyID) (\(what))", expected: "It is staged, and the gateway complains about it."
        ) {
            let isSeen = try await stage.wait(DrillStage.eventLimit) { try await stage.key(keyID).complaint != nil }
            let key = try await stage.key(keyID)
            return .when(
                isSeen && key.life.state == .staged && key.fitness != "ready",
                "It is \(key.life.state.rawValue) and \(key.fitness ?? "unknown"). \(key.complaint ?? "No complaint.")")
        }
    }

    /// Without a refusal here nothing else is tried: the key might be the right one, and get active.
    private func refuseProof(_ keyID: String, _ sheet: DrillSheet) async throws {
        try await sheet.essential("Have \(keyID) prove itself", expected: "It cannot, and the gateway says why.") {
            try await Refusal.of { _ = try await stage.desk.prove(keyID) }
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
