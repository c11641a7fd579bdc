public import SigningKit

/// Where a request goes: the names in it, authorised and resolved. An object, so that handing it on from stage to stage
/// costs one reference.
public final class SigningRoute: Sendable {
    public let app: AppIdentity
    public let key: KeySlot
    public let client: Client
    let feature: ServedFeature
    /// The rules that allow the names; they decide about products and offers once the request is read.
    let permit: Permit
    /// Whether they allow whatever the request names.
    let allowsEverySubject: Bool
    let request: RequestMark
    /// Keeps the key open until the request has been answered.
    let lease: Lease
    let counters: RequestCounters

    init(
        app: AppIdentity, key: KeySlot, client: Client, feature: ServedFeature, permit: Permit,
        request: RequestMark, lease: Lease, counters: RequestCounters
    ) {
        self.app = app
        self.key = key
        self.client = client
        self.feature = feature
        self.permit = permit
        self.request = request
        allowsEverySubject = permit.allowsEverySubject
        self.lease = lease
        self.counters = counters
    }

    public var featureID: String { feature.descriptor.id }
}
