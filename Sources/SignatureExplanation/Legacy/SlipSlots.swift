/// What a slip changes. Two slips go together when they have no slot in common.
struct SlipSlots: OptionSet, Sendable {
    let rawValue: UInt16

    // Bits 0 to 6 are the fields.
    static let order = SlipSlots(rawValue: 1 << 7)
    static let separator = SlipSlots(rawValue: 1 << 8)
    static let whole = SlipSlots(rawValue: 1 << 9)
    static let digest = SlipSlots(rawValue: 1 << 10)
}
