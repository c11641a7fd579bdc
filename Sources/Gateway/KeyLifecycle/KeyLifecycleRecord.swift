public import Signing
public import SigningKit
public import StrictJSON

/// The lifecycle of a key. The register stores it under the key's name, and the admin listener returns it.
public struct KeyLifecycleRecord: Codable, Sendable, Equatable {
    public var issuerID: String
    public var keyID: String
    public var state: KeyLifecycleState
    /// The state to which `resume` returns the key.
    public var suspendedFrom: KeyLifecycleState?
    public var since: Timestamp
    /// When a retiring key retires; nil if an administrator decides.
    public var retireAt: Timestamp?
    public var provenance: KeyProvenance
    /// Nil until the fingerprint is known.
    public var fingerprint: PublicKeyFingerprint?
    /// When the key was reported as compromised. `restore` does not clear it.
    public var compromisedAt: Timestamp?
    /// When `restore` undid the compromise; nil while the key counts as compromised.
    public var restoredAt: Timestamp?
    /// The number of changes that the history leaves out. The audit log has them.
    @OmittedIfEmpty public var omitted = 0
    /// The oldest change first.
    public var history: [KeyLifecycleChange] = []

    private enum CodingKeys: String, CodingKey {
        case issuerID = "issuerId"
        case keyID = "keyId"
        case state, suspendedFrom, since, retireAt, provenance, fingerprint, compromisedAt, restoredAt, omitted, history
    }

    /// Whether another person may have the key. Retirement or destruction does not change that.
    public var isCompromised: Bool { state == .compromised || (compromisedAt != nil && restoredAt == nil) }

    /// Whether signatures of the key prove nothing.
    var isUntrusted: Bool { isCompromised || state == .destroyed }

    /// The state before the last compromise.
    var stateBeforeCompromise: KeyLifecycleState? {
        history.last { $0.to == .compromised && $0.from != .compromised }?.from
    }

    /// Sets the time of the compromise. A further compromise, for example after retirement, keeps the first time.
    mutating func noteCompromise(at time: Timestamp) {
        if compromisedAt == nil || restoredAt != nil { (compromisedAt, restoredAt) = (time, nil) }
    }
}

extension KeyLifecycleRecord {
    /// Earlier versions stored the compromise in the history only.
    mutating func takeCompromiseFromHistory() {
        guard compromisedAt == nil, let compromise = history.last(where: { $0.action == .compromise }) else { return }
        compromisedAt = compromise.time
        let last = history.last { $0.action == .compromise || $0.action == .restore }
        if let last, last.action == .restore { restoredAt = last.time }
    }
}

/// One change of a key's state in the register and the audit log.
public struct KeyLifecycleChange: Codable, Sendable, Equatable {
    public var time: Timestamp
    public var action: KeyLifecycleAction
    /// Nil for the first change.
    public var from: KeyLifecycleState?
    public var to: KeyLifecycleState
    /// The client that ordered the change, or `gateway`.
    public var actor: String
    /// The second administrator under dual control.
    public var approver: String?
    public var reason: String
    /// When a retiring key retires.
    public var retireAt: Timestamp?
    /// The evidence by name, such as attributes that were read back.
    @OmittedIfEmpty public var evidence: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case time = "at"
        case action, from, to, actor, approver, reason, retireAt, evidence
    }
}

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
