public import Signing
public import SigningKit
public import StrictJSON

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
