public import SigningKit
import StrictJSON

/// A request with authorised and resolved names. It is a class, so that passing it on costs one reference.
public final class ResolvedRequest: Sendable {
    /// The app with the key that the request names, or with the key that was active when the request arrived.
    let served: ServedApp.Key
    public let app: AppIdentity
    public let client: Client
    let feature: ServedFeature
    public let featureID: String
    /// The app whose active key signs. Nil if the request names a key, or without a register.
    let activeKeyOf: ServedApp?
    /// Nil for a request of an app.
    let service: ServedService?
    /// The rules that allow the names. They decide about products and offers when the request is read.
    let matchingRules: MatchingRules
    /// Whether one of `matchingRules` allows all products and offers.
    let allowsEverySubject: Bool
    let identity: RequestIdentity
    /// Keeps the key open until the request has been answered.
    let snapshotLease: SnapshotLease
    let counters: RequestCounters

    init(
        _ served: ServedApp.Key, activeKeyOf: ServedApp?, service: ServedService? = nil, client: Client,
        feature: ServedFeature, matchingRules: MatchingRules, identity: RequestIdentity, snapshotLease: SnapshotLease,
        counters: RequestCounters
    ) {
        self.served = served
        self.activeKeyOf = activeKeyOf
        self.service = service
        app = served.identity
        self.client = client
        self.feature = feature
        featureID = feature.descriptor.id
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

    public var key: KeyHandle { served.handle }
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
        self.features = Dictionary(
            features.filter { app.features.contains($0.descriptor.id) }.map { (ExactText($0.descriptor.id), $0) }
        ) { $1 }
        keys = Dictionary(
            handles.map { handle in
                let keyID = handle.settings.keyID
                let identity = AppIdentity(bundleID: app.bundleID, issuerID: account.issuerID, keyID: keyID)
                return (ExactText(keyID), Key(identity: identity, handle: handle))
            }
        ) { $1 }
        configured = keys[ExactText(account.activeKeyID)]
    }

    func key(_ keyID: String?) -> Key? {
        if let keyID { return keys[ExactText(keyID)] }
        guard let active = life?.activeKeyID else { return configured }
        return keys[ExactText(active)] ?? configured
    }
}

/// A feature that the gateway serves, independent of its input and output types.
public struct ServedFeature: Sendable {
    public let descriptor: FeatureDescriptor
    /// The settings that the feature declares.
    public let settings: [PluginSetting]
    let prepare: @Sendable (JSONValue) throws(GatewayError) -> PreparedRequest

    public init<Feature: SigningFeature>(_ feature: Feature) {
        descriptor = Feature.descriptor
        settings = Feature.settings
        prepare = { value throws(GatewayError) in
            let input: Feature.Input
            do throws(JSONReadError) { input = try Feature.Input(from: value) } catch {
                throw .request(.request(error))
            }
            return PreparedRequest(subject: feature.subject(of: input)) { grant throws(FeatureError) in
                let draft = try feature.compose(input, for: grant)
                return Draft(signingInput: draft.signingInput, expires: draft.expires) {
                    draft.makeAnswer($0).jsonBytes(capacity: 1024)
                }
            }
        }
    }
}

/// A request that its feature has decoded.
struct PreparedRequest: Sendable {
    let subject: OfferSubject
    /// Service tokens with the same text may be the same token.
    var reuse: @Sendable () -> String = { "" }
    let compose: @Sendable (Grant) throws(FeatureError) -> Draft<[UInt8]>
}
