/// What happens to a key's state.
public enum KeyLifeAction: String, CaseIterable, Sendable {
    /// A key of the configuration that had no state got the one that it was used in.
    case adopt
    case `import`
    case generate
    case activate
    /// The active key made room for another: it is retiring, or retired at once where nothing names it any more.
    case retire
    /// Its retire-at came.
    case expire
    /// The key that was activated failed, so the one before took its place again.
    case revert
    case suspend
    case resume
    case compromise
    /// A key that was taken for compromised was not: it is suspended from then on.
    case restore
    case destroy

    /// Whether an account with dual control wants two administrators for it.
    public var needsTwo: Bool {
        switch self {
        case .import, .generate, .activate, .restore, .destroy: true
        case .adopt, .retire, .expire, .revert, .suspend, .resume, .compromise: false
        }
    }
}
