public import SigningKit

/// Where a request goes: the names in it, authorised and resolved.
public struct SigningRoute: Sendable {
    public let app: AppIdentity
    public let key: KeySlot
    public let client: Client
    public var featureID: String { feature.descriptor.id }
    let feature: ServedFeature
    /// The rules that allow the names; they decide about products and offers once the request is read.
    let permit: Permit
    /// Keeps the key open until the request has been answered.
    let lease: Lease
    let counters: RequestCounters
}
