/// The situation that a drill rehearses.
public enum DrillScenario: String, Codable, CaseIterable, Sendable {
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
            "A new key takes over under load; the old one signs on request until its retire-at, then no longer."
        case .compromise:
            "The active key is stopped at once and permanently; a replacement is activated, and service resumes."
        case .tokenLoss:
            "The token goes away and comes back: requests are refused, never wrongly signed, and service recovers by itself."
        case .wrongKeyImported:
            "A key that is not the pinned one never becomes active, and nothing is signed with it."
        case .operatorMistake: "Each forbidden action is tried, and is refused with an explanation."
        case .restoreFromBackupToken:
            "The token is lost permanently; the same key is restored into another one, which the gateway then uses."
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
