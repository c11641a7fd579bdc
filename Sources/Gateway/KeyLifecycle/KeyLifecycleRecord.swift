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
    /// When the last change takes effect on all gateways of a fleet, by the clock of its database; nil if at once.
    public var effectiveAt: Timestamp?
    /// The state until then.
    var effectiveFrom: KeyLifecycleState?
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
        case state, suspendedFrom, since, effectiveAt, effectiveFrom, retireAt, provenance, fingerprint, compromisedAt,
            restoredAt,
            omitted, history
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
