public import SigningKit

/// Where a request goes: the names in it, resolved.
public struct SigningRoute: Sendable {
    public let app: AppIdentity
    public let key: KeySlot
    let feature: ServedFeature
}
