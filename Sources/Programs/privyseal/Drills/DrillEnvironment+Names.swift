import KeyDrills

extension DrillEnvironment {
    /// Requests signatures with the scenario's keys by name before any change. Later, a refusal of a client that may
    /// not name a key would say nothing about the key.
    ///
    /// - Throws: `DrillError`, if the active key does not sign, or the staged key is refused for another reason than
    ///   its state.
    func checkNames(for scenario: DrillScenario) async throws {
        // The client of a temporary gateway may name every key.
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
            "The drill was not begun: a request that names the key \(keyID) had an unexpected result. "
                + "\(Self.text(answer, body)) \(wanted) The drill's client needs a rule with keyIds for both keys, and "
                + "the app both forms of promotional offers.")
    }
}
