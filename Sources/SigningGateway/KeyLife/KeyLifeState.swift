/// Where a key stands in its life (NIST SP 800-57 part 1 rev. 5 §7). Not how it fares: see `KeyState` for that.
public enum KeyLifeState: String, CaseIterable, Sendable {
    /// Pre-activation: it signs proofs of possession, and nothing else.
    case staged
    /// It signs what names no key, and what names it.
    case active
    /// Another one is active; it signs what names it, until its retire-at.
    case retiring
    /// Deactivated: it signs nothing any more.
    case retired
    /// Its object is gone from the token, and was looked for.
    case destroyed
    /// Stopped for a while, whatever it was.
    case suspended
    /// Somebody else may have it.
    case compromised

    /// Whether a request may have something signed with it.
    public var signs: Bool { self == .active || self == .retiring }
}
