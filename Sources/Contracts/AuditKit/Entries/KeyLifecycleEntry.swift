public import SigningKit

/// A lifecycle event of a key. The register holds the state that results from it.
public struct KeyLifecycleEntry: Sendable {
    public enum Event: String, Sendable {
        /// The key changed state, or a provisioning job succeeded.
        case changed
        /// The key signed a proof of possession on request.
        case proved
        case proposed, approved, rejected
        /// A new configuration gave a person of a proposal or of a provisioning job another name or proof.
        case identified
        /// All gateways of a fleet have proved the key of an activation.
        case agreed
        /// A provisioning job began or failed.
        case begun, failed
        /// The administrator client reported the provisioning job as done. The gateway has not yet confirmed it.
        case reported
    }

    public var event: Event
    /// The requested action: `activate`, `import` and so on.
    public var action: String
    public var issuerID: String
    public var keyID: String
    public var actor: String
    /// The second administrator, if two are required.
    public var approver: String?
    public var reason: String?
    public var from: String?
    public var to: String?
    public var retireAt: Timestamp?
    /// `sha256:` and hexadecimal digits.
    public var fingerprint: String?
    /// The ID of a proposal or of a provisioning job.
    public var id: String?
    public var evidence: [String: String]

    public init(
        _ event: Event, action: String, issuerID: String, keyID: String, actor: String, approver: String? = nil,
        reason: String? = nil, from: String? = nil, to: String? = nil, retireAt: Timestamp? = nil,
        fingerprint: String? = nil, id: String? = nil, evidence: [String: String] = [:]
    ) {
        self.event = event
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.actor = actor
        self.approver = approver
        self.reason = reason
        self.from = from
        self.to = to
        self.retireAt = retireAt
        self.fingerprint = fingerprint
        self.id = id
        self.evidence = evidence
    }
}
