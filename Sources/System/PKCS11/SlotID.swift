/// A slot (`CK_SLOT_ID`). Slot numbers change when tokens are created or moved, so a URI names one only as a hint.
public struct SlotID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
