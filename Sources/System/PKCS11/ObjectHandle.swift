/// The handle of an object (`CK_OBJECT_HANDLE`), valid for one initialisation of the module.
public struct ObjectHandle: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }
}
