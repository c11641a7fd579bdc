import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

/// The key under an ID is not the pinned key, and must never become active.
struct WrongKeyImported {
    let environment: DrillEnvironment

    func perform(_ log: DrillLog) async throws {
        let active = try await environment.observe(log)
        let keyID = try environment.replacementKey()
        log.record.keys.new = keyID
        if let throwAway = environment.throwAway {
            try await imports(throwAway, keyID, log)
            try await declarations(throwAway, log)
            try await replace(throwAway, keyID, log)
        }
        try await refuseProof(keyID, log)
        try await look(keyID, log)
        await refuseActivation(keyID, active, log)
        await environment.refusesName(keyID, log, because: "nothing is signed with it")
        await untouched(active, log)
    }

    // MARK: On a temporary token

    /// Imports files that hold other keys.
    private func imports(_ throwAway: TemporaryGateway, _ keyID: String, _ log: DrillLog) async throws {
        let wanted = try await environment.key(keyID).life.fingerprint
        await log.step(
            "Import a file with another key, saying which fingerprint is wanted",
            expected: "The import is refused with a sentence, and the token has no new key."
        ) {
            Self.refusal(try await throwAway.importOtherFile(as: "DRILLWRNG0", expecting: wanted))
        }
        await log.step(
            "Import a file with another key under the ID \(keyID), which is taken",
            expected: "The import is refused with a sentence."
        ) {
            Self.refusal(try await throwAway.importOtherFile(as: keyID, expecting: nil))
        }
    }

    private static func refusal(_ outcome: (status: Int32, text: String)) -> DrillLog.Finding {
        let line = outcome.text.split(separator: "\n").last.map(String.init) ?? ""
        return .when(
            outcome.status == 1 && Refusal.isSentence(line), "It ended with \(outcome.status): \(line)")
    }

    /// Declares keys that do not match the token's.
    private func declarations(_ throwAway: TemporaryGateway, _ log: DrillLog) async throws {
        let (other, torn) = (try await throwAway.makeOtherKey(), try await throwAway.makeMismatchedKey())
        for (key, what) in [
            (other, "another key than the pinned one"), (torn, "a private key that does not belong to the pinned one"),
        ] {
            await log.step(
                "Declare \(key.keyID), under which the token has \(what), and reload",
                expected: "The reload is refused with a sentence, and nothing has changed."
            ) {
                try await Refusal.of { try await throwAway.declare(key) }
            }
        }
    }

    private func replace(_ throwAway: TemporaryGateway, _ keyID: String, _ log: DrillLog) async throws {
        try await log.essential(
            "Put another key in the place of \(keyID), on the token itself", expected: "The token has the other one."
        ) {
            try await throwAway.replaceStagedKey()
            return .asExpected("It has; the gateway was not told.")
        }
    }

    // MARK: On any gateway

    /// Without a refusal, the drill ends: the key might be the right one and become active.
    private func refuseProof(_ keyID: String, _ log: DrillLog) async throws {
        try await log.essential("Have \(keyID) prove itself", expected: "It cannot, and the gateway says why.") {
            try await Refusal.of { _ = try await environment.lifecycleClient.prove(keyID) }
        }
    }

    private func look(_ keyID: String, _ log: DrillLog) async throws {
        try await log.essential("Look at \(keyID)", expected: "It is staged, and the gateway complains about it.") {
            let isSeen = try await environment.wait(DrillEnvironment.eventLimit) {
                try await environment.key(keyID).complaint != nil
            }
            let key = try await environment.key(keyID)
            return .when(
                isSeen && key.life.state == .staged && key.fitness != "ready",
                "It is \(key.life.state.rawValue) and \(key.fitness ?? "unknown"). \(key.complaint ?? "No complaint.")")
        }
    }

    private func refuseActivation(_ keyID: String, _ active: String, _ log: DrillLog) async {
        await log.step("Activate \(keyID)", expected: "It is refused with a sentence.") {
            try await Refusal.of {
                _ = try await environment.lifecycleClient.change(
                    KeyChangeOrder(.activate, keyID, reason: "Drill", retiring: active, overlap: environment.overlap))
            }
        }
    }

    private func untouched(_ active: String, _ log: DrillLog) async {
        await log.step(
            "See that nothing has changed", expected: "\(active) is active, and requests are served with it."
        ) {
            let begin = log.now()
            let first = await environment.answer { $0.begun >= begin }
            let now = try await environment.activeKey()
            return .when(
                now == active && first?.keyID == active,
                "\(now) is active; the next request was \(first?.keyID.map { "served with \($0)" } ?? "not served").")
        }
    }
}
