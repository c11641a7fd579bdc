import SigningKit

/// An app with its features and keys, indexed for requests.
struct ServedApp: Sendable {
    struct Key: Sendable {
        let identity: AppIdentity
        let handle: KeyHandle
    }

    let bundleID: String
    let issuerID: String
    /// By feature ID.
    let features: [ExactText: ServedFeature]
    let life: AccountKeys?
    private let configured: Key?
    /// By key ID.
    private let keys: [ExactText: Key]

    init(
        _ app: AppSettings, of account: AccountSettings, features: [ServedFeature], keys handles: [KeyHandle],
        life: AccountKeys?
    ) {
        self.life = life
        bundleID = app.bundleID
        issuerID = account.issuerID
        var byID: [ExactText: ServedFeature] = [:]
        for feature in features where app.features.contains(feature.descriptor.id) {
            byID[ExactText(feature.descriptor.id)] = feature
        }
        self.features = byID
        var keys: [ExactText: Key] = [:]
        for handle in handles {
            let identity = AppIdentity(bundleID: app.bundleID, issuerID: account.issuerID, keyID: handle.settings.keyID)
            keys[ExactText(handle.settings.keyID)] = Key(identity: identity, handle: handle)
        }
        self.keys = keys
        configured = keys[ExactText(account.activeKeyID)]
    }

    func key(_ keyID: String?) -> Key? {
        if let keyID { return keys[ExactText(keyID)] }
        guard let active = life?.activeKeyID else { return configured }
        return keys[ExactText(active)] ?? configured
    }
}
