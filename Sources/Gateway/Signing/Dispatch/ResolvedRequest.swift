public import SigningKit

/// A request with authorised and resolved names. It is a class, so that passing it on costs one reference.
public final class ResolvedRequest: Sendable {
    /// The app with the key that the request names, or with the key that was active when the request arrived.
    let served: ServedApp.Key
    public let client: Client
    let feature: ServedFeature
    /// The app whose active key signs. Nil if the request names a key, or without a register.
    let activeKeyOf: ServedApp?
    var life: AccountKeys? { served.handle.life }
    /// The rules that allow the names. They decide about products and offers when the request is read.
    let matchingRules: MatchingRules
    /// Whether one of `matchingRules` allows all products and offers.
    let allowsEverySubject: Bool
    let identity: RequestIdentity
    /// Keeps the key open until the request has been answered.
    let snapshotLease: SnapshotLease
    let counters: RequestCounters

    init(
        _ served: ServedApp.Key, activeKeyOf: ServedApp?, client: Client, feature: ServedFeature,
        matchingRules: MatchingRules,
        identity: RequestIdentity, snapshotLease: SnapshotLease, counters: RequestCounters
    ) {
        self.served = served
        self.activeKeyOf = activeKeyOf
        self.client = client
        self.feature = feature
        self.matchingRules = matchingRules
        self.identity = identity
        allowsEverySubject = matchingRules.allowsEverySubject
        self.snapshotLease = snapshotLease
        self.counters = counters
    }

    /// The key for the audit entry of a refusal: the named key or the active key; nil if no key is active.
    public var wantedKeyID: String? {
        if let life = activeKeyOf?.life { life.activeKeyID } else { served.identity.keyID }
    }

    public var app: AppIdentity { served.identity }
    public var key: KeyHandle { served.handle }
    public var featureID: String { feature.descriptor.id }
}

/// Identifies a request in audit entries.
public struct RequestIdentity: Sendable {
    /// The same ID as in the answer and in log lines.
    public let id: String
    /// When the request arrived.
    public let begun: ContinuousClock.Instant

    public init(id: String, begun: ContinuousClock.Instant = .now) {
        self.id = id
        self.begun = begun
    }
}
