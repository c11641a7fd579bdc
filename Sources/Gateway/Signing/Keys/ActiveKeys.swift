/// The keys that sign requests without a key ID, for readiness.
public struct ActiveKeys {
    private let handles: [KeyHandle]
    /// The IDs of keys that are active in the register, and that the configuration does not name for their account.
    public let unconfigured: [String]

    /// - Parameter handles: all keys of one account or of several.
    public init(among handles: [KeyHandle]) {
        self.handles = handles.filter(\.isActive)
        var unconfigured: Set<String> = []
        for handle in handles {
            guard let active = handle.life?.activeKeyID else { continue }
            if !handles.contains(where: { $0.issuerID == handle.issuerID && $0.settings.keyID == active }) {
                unconfigured.insert(active)
            }
        }
        self.unconfigured = unconfigured.sorted()
    }

    /// Whether all of them can sign. Also true if there is none: the gateway then refuses such requests on purpose.
    public var canSign: Bool { unconfigured.isEmpty && handles.allSatisfy(\.canSign) }

    /// Whether the configuration names none.
    public var isEmpty: Bool { handles.isEmpty }
}

extension KeyHandle {
    /// Whether the key can sign, is that of the register, and is not compromised under any ID.
    public var canSign: Bool { state.canSign && !isCompromised && !isAnother }

    /// `state` in one word. A compromised key is `refused`: it signs nothing until an administrator changes something.
    public var stateName: String { state.canSign && !canSign ? KeyState.refusedName : state.name }
}
