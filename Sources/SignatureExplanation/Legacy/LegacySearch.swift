import Crypto
import SigningKit

/// Looks for the mistakes that make a legacy signature valid: one at a time, then two, then three of the common ones,
/// then orders of the fields and moments of the clock. It ends at the first hit; P-256 leaves no room for another.
struct LegacySearch {
    struct Hit {
        let slips: [Slip]
        /// What had to be done to r and s.
        let halves: Finding?
        /// The index of the key.
        let key: Int
    }

    private let text: LegacyText
    private let signature: P256Signature
    /// The signature as it was read, ready for swift-crypto.
    private let form: P256.Signing.ECDSASignature?
    private let ranking: KeyRanking
    private(set) var verifier: Verifier
    /// Digests that were tried with the named keys.
    private var tried: Set<[UInt8]> = []

    init(_ text: LegacyText, _ signature: P256Signature, ranking: KeyRanking, verifier: Verifier) {
        self.text = text
        self.signature = signature
        form = signature.forVerifying
        self.ranking = ranking
        self.verifier = verifier
    }

    /// Whether the signature is over exactly what Apple puts together; with which key.
    mutating func direct() -> Int? {
        key(verifying: text, keys: ranking.all)
    }

    mutating func search(_ slips: LegacySlips) -> Hit? {
        let all = slips.all()
        return singles(all) ?? mixedHalves(all) ?? pairs(all) ?? orders(slips) ?? triples(all)
            ?? moments(slips, with: all)
    }

    // MARK: Stages

    private mutating func singles(_ slips: [Slip]) -> Hit? {
        for slip in slips {
            if let key = attempt([slip], keys: ranking.all) { return Hit(slips: [slip], halves: nil, key: key) }
        }
        return nil
    }

    /// r and s in each other's place, or with their bytes reversed: alone and with a common slip.
    private mutating func mixedHalves(_ slips: [Slip]) -> Hit? {
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
            for slips in [[]] + slips.filter({ $0.rank == .common }).map({ [$0] }) {
                let digest = digest(of: slips)
                for key in ranking.all where verifier.verifies(form, digest, key: key) {
                    return Hit(slips: slips, halves: finding, key: key)
                }
            }
        }
        return nil
    }

    /// Pairs in order of rank; two rare ones, or a rare and a plausible one, are not met together.
    private mutating func pairs(_ slips: [Slip]) -> Hit? {
        for weight in 2...4 {
            for (index, first) in slips.enumerated() {
                for second in slips[(index + 1)...]
                where first.rank.rawValue + second.rank.rawValue == weight && first.slots.isDisjoint(with: second.slots)
                {
                    let keys = weight == 2 ? ranking.all : ranking.named
                    if let key = attempt([first, second], keys: keys) {
                        return Hit(slips: [first, second], halves: nil, key: key)
                    }
                }
            }
        }
        return nil
    }

    private mutating func triples(_ slips: [Slip]) -> Hit? {
        let common = slips.filter { $0.rank == .common }
        for (i, first) in common.enumerated() {
            for (j, second) in common.enumerated().dropFirst(i + 1) where first.slots.isDisjoint(with: second.slots) {
                let both = first.slots.union(second.slots)
                for third in common.dropFirst(j + 1) where both.isDisjoint(with: third.slots) {
                    if let key = attempt([first, second, third], keys: ranking.named) {
                        return Hit(slips: [first, second, third], halves: nil, key: key)
                    }
                }
            }
        }
        return nil
    }

    /// All 5,040 orders of the fields.
    private mutating func orders(_ slips: LegacySlips) -> Hit? {
        var order = LegacyField.allCases
        repeat {
            let slip = slips.reordered(order)
            if let key = attempt([slip], keys: ranking.named) { return Hit(slips: [slip], halves: nil, key: key) }
        } while Permutation.next(&order)
        return nil
    }

    /// The microseconds of the answered millisecond; the milliseconds of the same second and of the two around it. When the answer gives only seconds, that is where
    /// the signed moment must be, so common slips are tried with each.
    private mutating func moments(_ slips: LegacySlips, with all: [Slip]) -> Hit? {
        guard let given = LegacyTimestamp(slips.answer.timestamp), given.unit != .finer else { return nil }
        let isSeconds = given.unit == .seconds
        if !isSeconds {
            for rest in 0..<1000 {
                let slip = slips.microsecond(given.whole, rest)
                if let key = attempt([slip], keys: ranking.named) { return Hit(slips: [slip], halves: nil, key: key) }
            }
        }
        let start = isSeconds ? given.whole * 1000 : given.whole / 1000 * 1000
        let candidates =
            (start..<start + 1000).map { $0 } + (start - 1000..<start).map { $0 }
            + (start + 1000..<start + 2000).map { $0 }
        let moments = candidates.map { isSeconds ? slips.millisecond($0) : slips.otherMoment($0, .rare) }
        for moment in moments {
            if let key = attempt([moment], keys: ranking.named) { return Hit(slips: [moment], halves: nil, key: key) }
        }
        guard isSeconds else { return nil }
        for slip in all where slip.rank == .common && slip.slots.isDisjoint(with: LegacyField.timestamp.slot) {
            for moment in moments.prefix(1000) {
                if let key = attempt([slip, moment], keys: ranking.named) {
                    return Hit(slips: [slip, moment], halves: nil, key: key)
                }
            }
        }
        return nil
    }

    // MARK: One attempt

    private func digest(of slips: [Slip]) -> RawDigest {
        var changed = text
        for slip in slips { slip.apply(&changed) }
        return changed.digest.apply(changed.bytes)
    }

    private mutating func attempt(_ slips: [Slip], keys: [Int]) -> Int? {
        guard !verifier.isExhausted else { return nil }
        var changed = text
        for slip in slips { slip.apply(&changed) }
        return key(verifying: changed, keys: keys)
    }

    private mutating func key(verifying text: LegacyText, keys: [Int]) -> Int? {
        let digest = text.digest.apply(text.bytes)
        guard tried.insert(digest.bytes).inserted, let form else { return nil }
        return keys.first { verifier.verifies(form, digest, key: $0) }
    }
}
