import SigningKit

/// An app with what it may use, laid out for look-up.
struct ServedApp: Sendable {
    struct Key: Sendable {
        let identity: AppIdentity
        let slot: KeySlot
    }

    let bundleID: String
    /// By ID.
    let features: [String: ServedFeature]
    /// As requests see them; nil where no register is kept.
    let life: AccountKeys?
    private let configured: Key?
    /// By key ID.
    private let keys: [String: Key]

    init(_ app: AppPlan, of account: AccountPlan, features: [ServedFeature], keys slots: [KeySlot], life: AccountKeys?)
    {
        self.life = life
        bundleID = app.bundleID
        var byID: [String: ServedFeature] = [:]
        for feature in features where app.features.contains(feature.descriptor.id) {
            byID[feature.descriptor.id] = feature
        }
        self.features = byID
        var keys: [String: Key] = [:]
        for slot in slots {
            let identity = AppIdentity(bundleID: app.bundleID, issuerID: account.issuerID, keyID: slot.plan.keyID)
            keys[slot.plan.keyID] = Key(identity: identity, slot: slot)
        }
        self.keys = keys
        configured = keys[account.activeKeyID]
    }

    func key(_ keyID: String?) -> Key? {
        if let keyID { return keys[keyID] }
        guard let active = life?.activeKeyID else { return configured }
        return keys[active] ?? configured
    }
}
