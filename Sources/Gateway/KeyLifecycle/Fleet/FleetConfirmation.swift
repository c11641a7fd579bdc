/// The gateways that have confirmed a change.
public struct FleetConfirmation: Codable, Sendable, Equatable {
    /// The origins of the gateways that use the new states.
    public var confirmed: [String]
    /// Those with a valid lease that do not use them yet.
    public var missing: [String]

    public init(confirmed: [String], missing: [String]) {
        (self.confirmed, self.missing) = (confirmed, missing)
    }
}
