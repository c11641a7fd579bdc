/// The keys that sign requests without a key ID, for readiness.
public struct ActiveKeys {
    private let handles: [KeyHandle]
    /// The IDs of keys that are active in the register, and that the configuration does not name.
    public let unconfigured: [String]

    /// - Parameter handles: all keys of one account or of several.
    public init(among handles: [KeyHandle]) {
        self.handles = handles.filter(\.isActive)
        let configured = Set(handles.map(\.settings.keyID))
        unconfigured = Set(handles.compactMap { $0.life?.activeKeyID }).subtracting(configured).sorted()
    }

    /// Whether all of them can sign. A gateway without an active key can, because it refuses such requests on purpose.
    public var canSign: Bool { unconfigured.isEmpty && handles.allSatisfy(\.canSign) }

    /// Whether none is configured.
    public var isEmpty: Bool { handles.isEmpty }
}

extension KeyHandle {
    /// Whether the key signs if a request names it. A key that is compromised under another ID does not.
    public var canSign: Bool { state.canSign && !isCompromised }
}
