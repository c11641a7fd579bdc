/// A known mistake in building the signed text of a legacy signature.
struct KnownMistake: Sendable {
    /// The frequency of a mistake. The search tries common mistakes first, and in more combinations.
    enum Rank: Int, Sendable {
        case common = 1
        case plausible = 2
        case rare = 3
    }

    let finding: Finding
    let rank: Rank
    let affectedParts: AffectedParts
    let apply: @Sendable (inout LegacyText) -> Void

    init(
        _ finding: Finding, _ rank: Rank, _ affectedParts: AffectedParts,
        apply: @escaping @Sendable (inout LegacyText) -> Void
    ) {
        self.finding = finding.with(.proven)
        self.rank = rank
        self.affectedParts = affectedParts
        self.apply = apply
    }
}
