import Crypto
import SigningKit

/// Searches for the mistakes that make a legacy signature valid: single ones, changed halves, pairs, orders of the
/// fields, triples of common ones, and other times. It ends at the first hit: with P-256, no other mistake verifies.
struct LegacySearch {
    struct Hit {
        let mistakes: [KnownMistake]
        /// The change to r and s.
        let rsChange: Finding?
        /// The index of the key.
        let key: Int
    }

    private let text: LegacyText
    private let signature: P256Signature
    /// `signature` as a swift-crypto type.
    private let form: P256.Signing.ECDSASignature?
    private let ranking: KeyRanking
    private(set) var verifier: Verifier
    /// The digests that were tried with the named keys.
    private var tried: Set<[UInt8]> = []

    init(_ text: LegacyText, _ signature: P256Signature, ranking: KeyRanking, verifier: Verifier) {
        self.text = text
        self.signature = signature
        form = signature.forVerifying
        self.ranking = ranking
        self.verifier = verifier
    }

    /// The index of the key that verifies the text that Apple builds; nil if no key does.
    mutating func direct() -> Int? {
        key(verifying: text, keys: ranking.all)
    }

    mutating func search(_ mistakes: LegacyMistakes) -> Hit? {
        let all = mistakes.all()
        return singles(all) ?? mixedHalves(all) ?? pairs(all) ?? orders(mistakes) ?? triples(all)
            ?? moments(mistakes, with: all)
    }

    // MARK: Search steps

    private mutating func singles(_ mistakes: [KnownMistake]) -> Hit? {
        for mistake in mistakes {
            if let key = attempt([mistake], keys: ranking.all) {
                return Hit(mistakes: [mistake], rsChange: nil, key: key)
            }
        }
        return nil
    }

    /// r and s swapped, or with reversed bytes: alone, and with one common mistake.
    private mutating func mixedHalves(_ mistakes: [KnownMistake]) -> Hit? {
        let forms: [(P256Signature?, Finding)] = [
            (
                signature.withHalvesSwapped,
                Finding(.signatureHalvesSwapped, field: "signature", "The signature is s ‖ r, not r ‖ s.").with(.proven)
            ),
            (
                signature.withBytesReversed,
                Finding(
                    .signatureLittleEndian, field: "signature", "The two numbers of the signature are little-endian."
                )
                .with(.proven)
            ),
        ]
        for (form, finding) in forms {
            guard let form = form?.forVerifying else { continue }
            for mistakes in [[]] + mistakes.filter({ $0.rank == .common }).map({ [$0] }) {
                let digest = digest(of: mistakes)
                for key in ranking.all where verifier.verifies(form, digest, key: key) {
                    return Hit(mistakes: mistakes, rsChange: finding, key: key)
                }
            }
        }
        return nil
    }

    /// Pairs in order of rank. A rare mistake is paired with common ones only: other pairs do not occur in practice.
    private mutating func pairs(_ mistakes: [KnownMistake]) -> Hit? {
        for weight in 2...4 {
            for (index, first) in mistakes.enumerated() {
                for second in mistakes[(index + 1)...]
                where first.rank.rawValue + second.rank.rawValue == weight
                    && first.affectedParts.isDisjoint(with: second.affectedParts)
                {
                    let keys = weight == 2 ? ranking.all : ranking.named
                    if let key = attempt([first, second], keys: keys) {
                        return Hit(mistakes: [first, second], rsChange: nil, key: key)
                    }
                }
            }
        }
        return nil
    }

    private mutating func triples(_ mistakes: [KnownMistake]) -> Hit? {
        let common = mistakes.filter { $0.rank == .common }
        for (i, first) in common.enumerated() {
            for (j, second) in common.enumerated().dropFirst(i + 1)
            where first.affectedParts.isDisjoint(with: second.affectedParts) {
                let both = first.affectedParts.union(second.affectedParts)
                for third in common.dropFirst(j + 1) where both.isDisjoint(with: third.affectedParts) {
                    if let key = attempt([first, second, third], keys: ranking.named) {
                        return Hit(mistakes: [first, second, third], rsChange: nil, key: key)
                    }
                }
            }
        }
        return nil
    }

    /// All 5,040 orders of the fields.
    private mutating func orders(_ mistakes: LegacyMistakes) -> Hit? {
        var order = LegacyField.allCases
        repeat {
            let mistake = mistakes.reordered(order)
            if let key = attempt([mistake], keys: ranking.named) {
                return Hit(mistakes: [mistake], rsChange: nil, key: key)
            }
        } while Permutation.next(&order)
        return nil
    }

    /// The microseconds of the answered millisecond, and the milliseconds of the same second and of the two around it.
    /// An answer in seconds gives no milliseconds, so those of its second are also tried with every common mistake.
    private mutating func moments(_ mistakes: LegacyMistakes, with all: [KnownMistake]) -> Hit? {
        guard let given = LegacyTimestamp(mistakes.answer.timestamp), given.unit != .finer else { return nil }
        let isSeconds = given.unit == .seconds
        if !isSeconds {
            for rest in 0..<1000 {
                let mistake = mistakes.microsecond(given.whole, rest)
                if let key = attempt([mistake], keys: ranking.named) {
                    return Hit(mistakes: [mistake], rsChange: nil, key: key)
                }
            }
        }
        let start = isSeconds ? given.whole * 1000 : given.whole / 1000 * 1000
        let candidates =
            (start..<start + 1000).map { $0 } + (start - 1000..<start).map { $0 }
            + (start + 1000..<start + 2000).map { $0 }
        let moments = candidates.map { isSeconds ? mistakes.millisecond($0) : mistakes.otherMoment($0, .rare) }
        for moment in moments {
            if let key = attempt([moment], keys: ranking.named) {
                return Hit(mistakes: [moment], rsChange: nil, key: key)
            }
        }
        guard isSeconds else { return nil }
        for mistake in all
        where mistake.rank == .common && mistake.affectedParts.isDisjoint(with: LegacyField.timestamp.affectedPart) {
            for moment in moments.prefix(1000) {
                if let key = attempt([mistake, moment], keys: ranking.named) {
                    return Hit(mistakes: [mistake, moment], rsChange: nil, key: key)
                }
            }
        }
        return nil
    }

    // MARK: Attempts

    private func digest(of mistakes: [KnownMistake]) -> RawDigest {
        var changed = text
        for mistake in mistakes { mistake.apply(&changed) }
        return changed.digest.apply(changed.bytes)
    }

    private mutating func attempt(_ mistakes: [KnownMistake], keys: [Int]) -> Int? {
        guard !verifier.isExhausted else { return nil }
        var changed = text
        for mistake in mistakes { mistake.apply(&changed) }
        return key(verifying: changed, keys: keys)
    }

    private mutating func key(verifying text: LegacyText, keys: [Int]) -> Int? {
        let digest = text.digest.apply(text.bytes)
        guard tried.insert(digest.bytes).inserted, let form else { return nil }
        return keys.first { verifier.verifies(form, digest, key: $0) }
    }
}
