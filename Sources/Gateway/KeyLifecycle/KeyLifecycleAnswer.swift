import StrictJSON

/// The answer to an order, an approval, or the report of a provisioning job.
public enum KeyLifecycleAnswer: Sendable {
    /// The change is made. These are the new records of the changed keys, and in a fleet the gateways that use them.
    case done([KeyLifecycleRecord], FleetConfirmation? = nil)
    /// The activation waits for gateways of the fleet, with the names of those that have not proved the key.
    case activating(FleetActivation, waitingFor: [String] = [])
    /// A second administrator must approve the order. With the approval, the same order begins the provisioning job.
    case proposed(KeyProposal)
    /// The provisioning job is recorded. The administrator now does the work and reports its result.
    case begun(ProvisioningJob)
    /// The provisioning job is reported. The gateway will look later: no configured key is on that token, or the token
    /// does not answer.
    case waiting(ProvisioningJob)
    /// The provisioning job has ended with this record of the key.
    case ended(KeyLifecycleRecord)
}

extension KeyLifecycleAnswer: Codable {
    private enum CodingKeys: String, CodingKey {
        case outcome, keys, proposal, ceremony, fleet, activation, waitingFor
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self =
            switch try members.decodeIfPresent(String.self, forKey: .outcome) {
            case "done":
                .done(
                    try members.decode([KeyLifecycleRecord].self, forKey: .keys),
                    try members.decodeIfPresent(FleetConfirmation.self, forKey: .fleet))
            case "activating":
                .activating(
                    try members.decode(FleetActivation.self, forKey: .activation),
                    waitingFor: try members.decode([String].self, forKey: .waitingFor))
            case "proposed": .proposed(try members.decode(KeyProposal.self, forKey: .proposal))
            case "begun": .begun(try members.decode(ProvisioningJob.self, forKey: .ceremony))
            case "waiting": .waiting(try members.decode(ProvisioningJob.self, forKey: .ceremony))
            default: .ended(try KeyLifecycleRecord(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers
        switch self {
        case .done(let records, let fleet): members = ["outcome": "done", "keys": records, "fleet": fleet]
        case .activating(let activation, let gateways):
            members = ["outcome": "activating", "activation": activation, "waitingFor": gateways]
        case .proposed(let proposal): members = ["outcome": "proposed", "proposal": proposal]
        case .begun(let job): members = ["outcome": "begun", "ceremony": job]
        case .waiting(let job): members = ["outcome": "waiting", "ceremony": job]
        case .ended(let record): return try record.encode(to: encoder)
        }
        try members.encode(to: encoder)
    }
}
