/// The lifecycle state of a key (NIST SP 800-57 part 1 rev. 5 §7). For its health, see `KeyState`.
public enum KeyLifecycleState: String, Codable, CaseIterable, Sendable {
    /// Pre-activation: the key signs only proofs of possession.
    case staged
    /// The key signs requests that name it, and requests that name no key.
    case active
    /// Another key is active. This key signs requests that name it, until its `retireAt`.
    case retiring
    /// Deactivated: the key signs nothing.
    case retired
    /// A search has shown that the key's object is gone from the token.
    case destroyed
    /// Stopped temporarily.
    case suspended
    /// Another person may have the key.
    case compromised

    /// Whether the key signs requests.
    public var signs: Bool { self == .active || self == .retiring }
}
