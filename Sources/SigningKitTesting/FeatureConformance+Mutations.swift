import SigningKit

extension FeatureConformance {
    /// Each mutated body is refused, or composes into a text that keeps its form. That none traps shows in that the test
    /// ends. The seed is fixed: what fails once fails again.
    func checkMutatedInputs() {
        let count = 10_000
        var mutator = RequestMutator(seed: 0x5EA1, bodies: vectors.map(\.body))
        var composed = 0
        for index in 0..<count {
            guard !vectors.isEmpty else { return }
            let vector = vectors[index % vectors.count]
            let body = mutator.mutate(vector.body)
            guard let input = try? feature.input(from: body) else { continue }
            // Before it is known to be valid, as in the gateway.
            _ = feature.subject(of: input)
            guard let draft = try? feature.compose(input, for: vector.grant) else { continue }
            composed += 1
            if let fault = form.fault(draft.signingInput, vector.grant) {
                fail("\(body.asText)\ncomposes, but \(fault)")
            }
        }
        // A mutator that only ever breaks the JSON would show nothing.
        if composed < count / 100 { fail("only \(composed) of \(count) mutated requests are accepted") }
        if composed == count { fail("every mutated request is accepted") }
    }
}
