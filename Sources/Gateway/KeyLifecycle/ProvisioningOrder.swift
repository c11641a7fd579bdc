public import SigningKit
public import StrictJSON

/// An order to begin a provisioning job.
public struct ProvisioningOrder: Codable, Sendable, Equatable {
    /// `import`, `generate` or `destroy`.
    public var action: KeyLifecycleAction
    public var issuerID: String
    public var keyID: String
    /// The location of the key, without attributes that lead to a secret.
    public var uri: String
    /// Further places of the key, in order, without attributes that lead to a secret.
    @OmittedIfEmpty public var replicas: [String]
    public var fingerprint: PublicKeyFingerprint?
    public var reason: String
    /// The job that the order continues, which the caller has seen; nil for any. The order is refused if it has ended.
    public var continues: String?

    /// All places, in order.
    var uris: [String] { [uri] + replicas }

    private enum CodingKeys: String, ClosedCodingKey {
        case action
        case issuerID = "issuerId"
        case keyID = "keyId"
        case uri, replicas, fingerprint, reason, continues
    }

    public init(
        _ action: KeyLifecycleAction, issuerID: String, keyID: String, uri: String, replicas: [String] = [],
        fingerprint: PublicKeyFingerprint?, reason: String
    ) {
        self.action = action
        self.issuerID = issuerID
        self.keyID = keyID
        self.uri = uri
        self.replicas = replicas
        self.fingerprint = fingerprint
        self.reason = reason
    }
}
