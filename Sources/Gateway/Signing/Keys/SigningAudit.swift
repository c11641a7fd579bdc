public import AuditLog
public import SigningKit

/// The lifecycle states of keys, for signing. `KeyStateCache` implements it with the registers of the audit log.
public protocol KeyStates: Sendable {
    /// The states of an account's keys. The same object for each call.
    func account(_ issuerID: String) -> AccountKeys

    /// Whether signatures of the key can be trusted: no other person may have made them.
    func isTrustworthy(_ keyID: String, _ fingerprint: PublicKeyFingerprint?) -> Bool

    /// The fingerprint that the register has for the key; nil if it has none.
    func fingerprint(of keyID: String) -> PublicKeyFingerprint?

    /// Whether the private key is compromised under any ID, in any account.
    func isCompromised(_ fingerprint: PublicKeyFingerprint) -> Bool

    /// Sets the accounts and clients of the configuration that begins to serve.
    func declare(_ accounts: [AccountSettings], clients: [ClientSettings], at time: Timestamp)
}

/// The audit log, and the states of the keys according to its registers. One never comes without the other: without
/// key states, a stopped key would sign.
public struct SigningAudit: Sendable {
    public let log: AuditLog
    public let keyStates: any KeyStates
    /// Nil for a gateway that belongs to no fleet.
    let shared: (any SharedValues)?

    public init(_ log: AuditLog, _ keyStates: any KeyStates, shared: (any SharedValues)? = nil) {
        self.shared = shared
        self.log = log
        self.keyStates = keyStates
    }
}
