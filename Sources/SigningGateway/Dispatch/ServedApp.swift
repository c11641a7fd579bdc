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
    private let active: Key?
    /// By key ID.
    private let keys: [String: Key]

    init(_ app: AppPlan, of account: AccountPlan, features: [ServedFeature], keys slots: [KeySlot]) {
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
        active = keys[account.activeKeyID]
    }

    func key(_ keyID: String?) -> Key? {
        guard let keyID else { return active }
        return keys[keyID]
    }
}
