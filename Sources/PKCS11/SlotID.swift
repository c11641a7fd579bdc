/// A place for a token (`CK_SLOT_ID`). Numbers change when tokens are made or moved, so none is ever configured.
public struct SlotID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
