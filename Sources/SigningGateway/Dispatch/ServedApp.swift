import SigningKit

/// An app with what it may use, laid out for look-up.
struct ServedApp: Sendable {
    struct Key: Sendable {
        let identity: AppIdentity
        let slot: KeySlot
    }

    let bundleID: String
    /// Of its account.
    let issuerID: String
    /// By ID.
    let features: [ExactText: ServedFeature]
    /// As requests see them; nil where no register is kept.
    let life: AccountKeys?
    private let configured: Key?
    /// By key ID.
    private let keys: [ExactText: Key]

    init(_ app: AppPlan, of account: AccountPlan, features: [ServedFeature], keys slots: [KeySlot], life: AccountKeys?)
    {
        self.life = life
        bundleID = app.bundleID
        issuerID = account.issuerID
        var byID: [ExactText: ServedFeature] = [:]
        for feature in features where app.features.contains(feature.descriptor.id) {
            byID[ExactText(feature.descriptor.id)] = feature
        }
        self.features = byID
        var keys: [ExactText: Key] = [:]
        for slot in slots {
            let identity = AppIdentity(bundleID: app.bundleID, issuerID: account.issuerID, keyID: slot.plan.keyID)
            keys[ExactText(slot.plan.keyID)] = Key(identity: identity, slot: slot)
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
