/// A change of a key's state.
public enum KeyLifecycleAction: String, Codable, CaseIterable, Sendable {
    /// A configured key without a state gets one, see `KeyStateCache`.
    case adopt
    case `import`
    case generate
    case activate
    /// The active key is retiring because another one was activated, or a key that is not active was retired.
    case retire
    /// The key retired at its `retireAt`.
    case expire
    /// A newly activated key failed, so the previous key is active again.
    case revert
    case suspend
    case resume
    case compromise
    /// The compromise was an error: the key is suspended, or again retired or destroyed if it was.
    case restore
    case destroy

    /// Whether the action requires two administrators in an account with dual control.
    public var requiresDualControl: Bool {
        switch self {
        case .import, .generate, .activate, .restore, .destroy: true
        case .adopt, .retire, .expire, .revert, .suspend, .resume, .compromise: false
        }
    }
}
