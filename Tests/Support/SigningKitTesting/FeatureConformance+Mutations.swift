import SigningKit

extension FeatureConformance {
    /// The feature refuses each mutated body, or composes a text that satisfies `form`. If the feature traps, the test
    /// process crashes. The seed is fixed, so a failure can be reproduced.
    func checkMutatedInputs() {
        let count = 10_000
        var mutator = RequestMutator(seed: 0x5EA1, bodies: vectors.map(\.body))
        var composed = 0
        for index in 0..<count {
            guard !vectors.isEmpty else { return }
            let vector = vectors[index % vectors.count]
            let body = mutator.mutate(vector.body)
            guard let input = try? feature.input(from: body) else { continue }
            // The gateway also reads the subject before `compose` validates the input.
            _ = feature.subject(of: input)
            guard let draft = try? feature.compose(input, for: vector.grant) else { continue }
            composed += 1
            if let fault = form.fault(draft.signingInput, vector.grant) {
                fail("\(body.asText)\ncomposes, but \(fault)")
            }
        }
        // A mutator that always breaks the JSON would test nothing.
        if composed < count / 100 { fail("only \(composed) of \(count) mutated requests are accepted") }
        if composed == count { fail("every mutated request is accepted") }
    }
}
