/// The situation that a drill rehearses.
public enum DrillScenario: String, Codable, CaseIterable, Sendable {
    case scheduledRotation = "scheduled-rotation"
    case compromise
    case tokenLoss = "token-loss"
    case failover
    case wrongKeyImported = "wrong-key-imported"
    case operatorMistake = "operator-mistake"
    case restoreFromBackupToken = "restore-from-backup-token"

    public var title: String { texts.title }

    /// The expected result, in a sentence.
    public var summary: String { texts.summary }

    private var texts: (title: String, summary: String) {
        switch self {
        case .scheduledRotation:
            (
                "Scheduled rotation",
                "A new key takes over under load; the old one signs on request until its retire-at, then no longer."
            )
        case .compromise:
            (
                "Compromise of the active key",
                "The active key is stopped at once and permanently; a replacement is activated, and service resumes."
            )
        case .tokenLoss:
            (
                "Loss of the token",
                "The token goes away and comes back: requests are refused, never wrongly signed, and service recovers by itself."
            )
        case .failover:
            (
                "Failover between the tokens of a key",
                "Each token of the active key goes away and comes back in turn; the others sign, and no request fails."
            )
        case .wrongKeyImported:
            (
                "A wrong key was imported",
                "A key that is not the pinned one never becomes active, and nothing is signed with it."
            )
        case .operatorMistake:
            ("Mistakes of an operator", "Each forbidden action is tried, and is refused with an explanation.")
        case .restoreFromBackupToken:
            (
                "Restore from a backup token",
                "The token is lost permanently; the same key is restored into another one, which the gateway then uses."
            )
        }
    }

    /// Whether the administrator must name a staged key.
    public var needsReplacement: Bool { !takesTokenAway && self != .restoreFromBackupToken }

    /// Whether the drill takes tokens away for a time, and changes no key.
    public var takesTokenAway: Bool { self == .tokenLoss || self == .failover }

    /// Whether a request of the load names the key that is active at the start.
    public var namesActiveKey: Bool { self == .scheduledRotation || self == .compromise }
}
