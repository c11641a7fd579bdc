/// An object on a token (`CK_OBJECT_HANDLE`). It holds for one initialisation of the module and no longer.
public struct ObjectHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
