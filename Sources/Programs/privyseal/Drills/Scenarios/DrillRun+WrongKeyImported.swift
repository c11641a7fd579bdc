import Crypto
import KeyDrills
import KeyLifecycle
import Signing
import SigningKit

extension DrillRun {
    /// The key under an ID is not the pinned key, and must never become active.
    func wrongKeyImported() async throws {
        let active = try await observe()
        let keyID = environment.replacement
        log.record.keys.new = keyID
        if let throwAway = environment.throwAway { try await bringWrongKeys(throwAway, keyID) }
        // Without a refusal, the drill ends: the key might be the right one and become active.
        try await log.essential("Have \(keyID) prove itself", expected: "It cannot, and the gateway says why.") {
            try await Refusal.of { _ = try await client.prove(keyID) }
        }
        try await log.essential("Look at \(keyID)", expected: "It is staged, and the gateway complains about it.") {
            let isSeen = try await wait { try await key(keyID).complaint != nil }
            let staged = try await key(keyID)
            let (state, fitness) = (staged.life.state, staged.fitness ?? "unknown")
            return .when(
                isSeen && state == .staged && fitness != "ready",
                "It is \(state.rawValue) and \(fitness). \(staged.complaint ?? "No complaint.")")
        }
        await refuse("Activate \(keyID)") { _ = try await client.change(activation(of: keyID, retiring: active)) }
        await refusesName(keyID, because: "nothing is signed with it")
        await serves(active, "See that nothing has changed")
    }

    /// Imports and declares other keys than the pinned ones, and replaces the staged key on the token.
    private func bringWrongKeys(_ throwAway: TemporaryGateway, _ keyID: String) async throws {
        let pinned = try await key(keyID).life.fingerprint
        for (newID, fingerprint, title) in [
            ("DRILLWRNG0", pinned, "Import a file with another key, saying which fingerprint is wanted"),
            (keyID, nil, "Import a file with another key under the ID \(keyID), which is taken"),
        ] {
            await log.step(title, expected: "The import is refused with a sentence.") {
                let (status, text) = try await throwAway.importOtherFile(as: newID, expecting: fingerprint)
                let line = text.split(separator: "\n").last.map(String.init) ?? ""
                return .when(status == 1 && Refusal.isSentence(line), "It ended with \(status): \(line)")
            }
        }
        var other = try await throwAway.makeKey("DRILLWRNG1")
        other.fingerprint = throwAway.staged.fingerprint
        var torn = try await throwAway.makeKey("DRILLWRNG2")
        let publicKey = P256.Signing.PrivateKey().publicKey
        try await throwAway.tokens.replacePublicKey(torn.keyID, with: publicKey, on: throwAway.token)
        torn.fingerprint = PublicKeyFingerprint(of: publicKey)
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
        try await log.essential(
            "Put another key in the place of \(keyID), on the token itself", expected: "The token has the other one."
        ) {
            try await throwAway.tokens.removeKey(keyID, from: throwAway.token)
            _ = try await throwAway.makeKey(keyID)
            return .asExpected("It has; the gateway was not told.")
        }
    }
}
