import Algorithms
import SigningKit

/// Searches for the mistakes that make a legacy signature valid: single ones, changed halves, pairs, orders of the
/// fields, triples of common ones, and other times. It ends at the first hit: with P-256, no other mistake verifies.
struct LegacySearch {
    private let mistakes: LegacyMistakes
    private let common: [KnownMistake]
    private let plausible: [KnownMistake]
    private let rare: [KnownMistake]
    private let signature: P256Signature
    private let verifier: Verifier
    /// The digests that were tried.
    private var tried: Set<[UInt8]> = []

    init(_ mistakes: LegacyMistakes, _ signature: P256Signature, _ verifier: Verifier) {
        self.mistakes = mistakes
        let all = mistakes.all
        common = all.filter { $0.rank == .common }
        plausible = all.filter { $0.rank == .plausible }
        rare = all.filter { $0.rank == .rare }
        self.signature = signature
        self.verifier = verifier
    }

    mutating func hit() -> Examination.Hit? {
        first(of: (common + plausible + rare).lazy.map { [$0] }, onlyNamed: false)
            ?? reorderedSignature() ?? pairs() ?? orders()
            ?? first(of: common.combinations(ofCount: 3)) ?? moments()
    }

    /// r and s swapped, or with reversed bytes: alone, and with one common mistake.
    private func reorderedSignature() -> Examination.Hit? {
        for (form, finding) in signature.reordered {
            for mistakes in [[]] + common.map({ [$0] }) {
                if let key = verifier.key(verifying: form, digest(of: mistakes)) {
                    return Examination.Hit(findings: mistakes.map(\.finding) + [finding], key: key)
                }
            }
        }
        return nil
    }

    /// Pairs in order of rank. A rare mistake is paired with common ones only: other pairs do not occur in practice.
    private mutating func pairs() -> Examination.Hit? {
        first(of: common.combinations(ofCount: 2), onlyNamed: false)
            ?? first(of: product(common, plausible).lazy.map { [$0, $1] })
            ?? first(of: product(common, rare).lazy.map { [$0, $1] })
            ?? first(of: plausible.combinations(ofCount: 2))
    }

    /// All 5,040 orders of the fields.
    private mutating func orders() -> Examination.Hit? {
        let orders = LegacyField.allCases.permutations().lazy
        return first(of: orders.map { [mistakes] in [mistakes.reordered($0)] })
    }

    /// The microseconds of the answered millisecond, and the milliseconds of the same second and of the two around it.
    /// An answer in seconds gives no milliseconds, so those of its second are also tried with every common mistake.
    private mutating func moments() -> Examination.Hit? {
        guard let given = LegacyTimestamp(mistakes.answer.timestamp), given.unit != .finer else { return nil }
        let isSeconds = given.unit == .seconds
        let start = isSeconds ? given.whole * 1000 : given.whole / 1000 * 1000
        let near = Array(start..<start + 1000) + Array(start - 1000..<start) + Array(start + 1000..<start + 2000)
        let moments = near.map { isSeconds ? mistakes.millisecond($0) : mistakes.otherMoment($0, .rare) }
        guard isSeconds else {
            let finer = (0..<1000).map { mistakes.microsecond(given.whole, $0) }
            return first(of: (finer + moments).lazy.map { [$0] })
        }
        return first(of: moments.lazy.map { [$0] })
            ?? first(of: product(common, moments.prefix(1000)).lazy.map { [$0, $1] })
    }

    /// The first combination with which the signature verifies. Mistakes with a common part cannot be combined.
    private mutating func first(
        of combinations: some Sequence<[KnownMistake]>, onlyNamed: Bool = true
    ) -> Examination.Hit? {
        for mistakes in combinations {
            guard !verifier.isExhausted else { return nil }
            let parts = mistakes.dropFirst().reduce(mistakes.first?.parts ?? []) { $0.union($1.parts) }
            guard parts.count == mistakes.reduce(0, { $0 + $1.parts.count }) else { continue }
            let digest = digest(of: mistakes)
            guard tried.insert(digest.bytes).inserted else { continue }
            if let key = verifier.key(verifying: signature, digest, onlyNamed: onlyNamed) {
                return Examination.Hit(findings: mistakes.map(\.finding), key: key)
            }
        }
        return nil
    }

    private func digest(of mistakes: [KnownMistake]) -> RawDigest {
        var text = self.mistakes.text
        for mistake in mistakes { mistake.apply(&text) }
        return text.digest
    }
}
