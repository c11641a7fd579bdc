import KeyDrills

extension DrillStage {
    /// Asks for signatures by the names that the scenario will use, before anything is changed: what the client may not
    /// have would be refused later for a reason that says nothing of the key.
    ///
    /// - Throws: `DrillError`, when the active key does not sign, or the staged one is refused for another reason than that.
    func checkNames(for scenario: DrillScenario) async throws {
        // The client of a gateway that the drill makes may name every key.
        guard throwAway == nil else { return }
        if scenario.namesActiveKey {
            let active = try await activeKey()
            let (answer, body) = await load.probe(request(.named(keyID: active)))
            guard answer.keyID == active else { throw unfit(active, "It has to be signed.", answer, body) }
        }
        if scenario.needsReplacement {
            let staged = try replacementKey()
            let (answer, body) = await load.probe(request(.named(keyID: staged)))
            guard Self.refusal(answer, body, as: .keyNotInUse).isAsExpected else {
                throw unfit(staged, "It has to be refused because that key is not in use.", answer, body)
            }
        }
    }

    private func unfit(_ keyID: String, _ wanted: String, _ answer: LoadAnswer, _ body: [UInt8]) -> DrillError {
        DrillError(
            "The drill was not begun: a request that names the key \(keyID) came out otherwise than it has to. "
                + "\(Self.text(answer, body)) \(wanted) The drill's client needs a rule with keyIds for both keys, and "
                + "the app both forms of promotional offers.")
    }
}
