import AuditKit
public import SigningKit

/// The gateways of a fleet: `GET /v1/fleet`.
public struct FleetOverview: Codable, Sendable, Equatable {
    public struct Gateway: Codable, Sendable, Equatable {
        /// The name of its log.
        public var origin: String
        /// `live`; `silent` without a valid lease; `left` after it stopped; `fenced`.
        public var state: String
        /// When it last renewed its lease, by the database's clock.
        public var renewed: Timestamp
        /// Whether it uses all key states of the register.
        public var isCurrent: Bool
        /// For a fenced gateway.
        public var reason: String?

        private enum CodingKeys: String, CodingKey {
            case origin, state, renewed, reason
            case isCurrent = "current"
        }
    }

    /// The name of the fleet's log.
    public var origin: String
    public var gateways: [Gateway]
    public var activations: [FleetActivation]
    public var tokens: [TokenWithRefusedPINs]

    init(
        _ view: FleetView, in fleet: FleetRegister, activations: [FleetActivation], fenced: [FencedGateway],
        refusedPINs: [RefusedPIN]
    ) {
        tokens = TokenWithRefusedPINs.list(refusedPINs)
        origin = fleet.fleet
        self.activations = activations
        let live = Set(fleet.live.map(\.origin))
        gateways = view.members.map { member in
            let order = fenced.first { $0.origin == member.origin && $0.epoch == member.epoch }
            let state =
                if order != nil { "fenced" } else if member.isGone { "left" } else {
                    live.contains(member.origin) ? "live" : "silent"
                }
            return Gateway(
                origin: member.origin, state: state, renewed: member.renewed,
                isCurrent: member.report.applied >= view.size, reason: order?.reason)
        }
    }
}
