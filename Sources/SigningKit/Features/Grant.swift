/// What the gateway gives to one signature: for which app and key, when, and with which nonce. A caller cannot override
/// any of it.
public struct Grant: Sendable {
    public let app: AppIdentity
    public let issuedAt: Timestamp
    public let nonce: Nonce

    public init(app: AppIdentity, issuedAt: Timestamp, nonce: Nonce) {
        self.app = app
        self.issuedAt = issuedAt
        self.nonce = nonce
    }
}
