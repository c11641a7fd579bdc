public import AuditLog
public import SigningKit

/// The lifecycle states of keys, for signing. `KeyStateCache` implements it with the registers of the audit log.
public protocol KeyStates: Sendable {
    /// The states of an account's keys. The same object for each call.
    func account(_ issuerID: String) -> AccountKeys

    /// Whether signatures of the key can be trusted: no other person may have made them.
    func isTrustworthy(_ keyID: String, _ fingerprint: PublicKeyFingerprint?) -> Bool

    /// Sets the accounts and clients of the configuration that begins to serve.
    func declare(_ accounts: [AccountSettings], clients: [ClientSettings], at time: Timestamp)
}

/// The audit log, and the states of the keys according to its registers. One never comes without the other: without
/// key states, a stopped key would sign.
public struct SigningAudit: Sendable {
    public let log: AuditLog
    public let keyStates: any KeyStates

    public init(_ log: AuditLog, _ keyStates: any KeyStates) {
        self.log = log
        self.keyStates = keyStates
    }
}
