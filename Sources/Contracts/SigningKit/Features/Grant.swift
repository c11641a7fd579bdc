/// The values that the gateway sets for one signature: app and key, time, and nonce. A caller cannot override them.
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
