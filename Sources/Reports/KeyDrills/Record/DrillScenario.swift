/// The situation that a drill rehearses.
public enum DrillScenario: String, CaseIterable, Sendable {
    case scheduledRotation = "scheduled-rotation"
    case compromise
    case tokenLoss = "token-loss"
    case wrongKeyImported = "wrong-key-imported"
    case operatorMistake = "operator-mistake"
    case restoreFromBackupToken = "restore-from-backup-token"

    public var title: String {
        switch self {
        case .scheduledRotation: "Scheduled rotation"
        case .compromise: "Compromise of the active key"
        case .tokenLoss: "Loss of the token"
        case .wrongKeyImported: "A wrong key was imported"
        case .operatorMistake: "Mistakes of an operator"
        case .restoreFromBackupToken: "Restore from a backup token"
        }
    }

    /// The expected result, in a sentence.
    public var summary: String {
        switch self {
        case .scheduledRotation:
            "A new key takes over under load; the old one answers by name until its retire-at, and then no more."
        case .compromise:
            "The active key is stopped at once and for good; a replacement is activated, and service is back."
        case .tokenLoss:
            "The token goes away and comes back: requests are refused, never wrongly signed, and service recovers by itself."
        case .wrongKeyImported:
            "A key that is not the pinned one never gets active, and nothing is signed with it."
        case .operatorMistake: "Each act that must be refused is tried, and is refused with a sentence."
        case .restoreFromBackupToken:
            "The token is lost for good; the same key is restored into another one, and the gateway pointed at it."
        }
    }

    /// Whether the administrator must name a staged key.
    public var needsReplacement: Bool {
        switch self {
        case .scheduledRotation, .compromise, .wrongKeyImported, .operatorMistake: true
        case .tokenLoss, .restoreFromBackupToken: false
        }
    }

    /// Whether a request of the load names the key that is active at the start.
    public var namesActiveKey: Bool {
        switch self {
        case .scheduledRotation, .compromise: true
        case .tokenLoss, .wrongKeyImported, .operatorMistake, .restoreFromBackupToken: false
        }
    }
}
