/// One known mistake in making the text of a legacy signature.
struct Slip: Sendable {
    /// How often it is met. The search begins with the common ones, and combines those most.
    enum Rank: Int, Sendable {
        case common = 1
        case plausible = 2
        case rare = 3
    }

    let finding: Finding
    let rank: Rank
    let slots: SlipSlots
    let apply: @Sendable (inout LegacyText) -> Void

    init(
        _ finding: Finding, _ rank: Rank, _ slots: SlipSlots, apply: @escaping @Sendable (inout LegacyText) -> Void
    ) {
        self.finding = finding.with(.proven)
        self.rank = rank
        self.slots = slots
        self.apply = apply
    }

    /// A slip that puts `text` where `field` stands.
    init(
        _ code: FindingCode, _ rank: Rank, _ field: LegacyField, of answer: LegacyAnswer, signed text: String,
        _ message: String
    ) {
        self.init(Finding(code, field: field.name(in: answer), message), rank, field.slot) { $0[field] = text }
    }
}
