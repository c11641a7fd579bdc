public import SigningKit

/// Something that happened in the life of a key, and what the register says since.
public struct LifeRecord: Sendable {
    public enum Event: String, Sendable {
        /// The key is in another state.
        case changed
        /// It signed a proof of possession that somebody asked for.
        case proved
        case proposed, approved, rejected
        /// Work on a token.
        case begun, failed
        /// The worker says that it is done; the gateway has not seen that yet.
        case reported
    }

    public var event: Event
    /// What was wanted: `activate`, `import` and so on.
    public var action: String
    public var issuerID: String
    public var keyID: String
    public var actor: String
    /// The second administrator, where two are wanted.
    public var approver: String?
    public var reason: String?
    public var from: String?
    public var to: String?
    public var retireAt: Timestamp?
    /// As everywhere: `sha256:` and hexadecimal digits.
    public var fingerprint: String?
    /// Of a proposal or of work on a token.
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
