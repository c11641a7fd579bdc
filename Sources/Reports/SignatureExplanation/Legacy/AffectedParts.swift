/// The parts of the text that a mistake changes. The search combines only mistakes without a common part.
struct AffectedParts: OptionSet, Sendable {
    let rawValue: UInt16

    // Bits 0 to 6 are the cases of `LegacyField`.
    static let order = AffectedParts(rawValue: 1 << 7)
    static let separator = AffectedParts(rawValue: 1 << 8)
    static let whole = AffectedParts(rawValue: 1 << 9)
    static let digest = AffectedParts(rawValue: 1 << 10)
}
