public import SigningKit

/// Where a request goes: the names in it, authorised and resolved. An object, so that handing it on from stage to stage
/// costs one reference.
public final class SigningRoute: Sendable {
    /// With the key that the request names, or the one that was active when it came.
    let served: ServedApp.Key
    public let client: Client
    let feature: ServedFeature
    /// The keys that take turns for a request that names none; nil where the key is what the configuration says.
    let turns: ServedApp?
    /// Where the key stands; nil where no register is kept.
    var life: AccountKeys? { served.slot.life }
    /// The rules that allow the names; they decide about products and offers once the request is read.
    let permit: Permit
    /// Whether they allow whatever the request names.
    let allowsEverySubject: Bool
    let request: RequestMark
    /// Keeps the key open until the request has been answered.
    let lease: Lease
    let counters: RequestCounters

    init(
        _ served: ServedApp.Key, turns: ServedApp?, client: Client, feature: ServedFeature, permit: Permit,
        request: RequestMark, lease: Lease, counters: RequestCounters
    ) {
        self.served = served
        self.turns = turns
        self.client = client
        self.feature = feature
        self.permit = permit
        self.request = request
        allowsEverySubject = permit.allowsEverySubject
        self.lease = lease
        self.counters = counters
    }

    /// For what gets no signature: the key that the request names, or the one that is active; nil when none is.
    public var wantedKeyID: String? {
        if let life = turns?.life { life.activeKeyID } else { served.identity.keyID }
    }

    public var app: AppIdentity { served.identity }
    public var key: KeySlot { served.slot }
    public var featureID: String { feature.descriptor.id }
}
