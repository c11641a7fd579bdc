import SigningKit
import StrictJSON

/// All keys of a gateway, with open proposals and jobs: `GET /v1/keys`.
public struct KeyLifecycleOverview: Codable, Sendable {
    public struct Key: Sendable {
        /// The record, with the state that applies in the gateway.
        public var life: KeyLifecycleRecord
        /// Whether the register has that state. It does not after a stop that could not be recorded.
        public var isRecorded = true
        /// Whether the configuration names the key.
        public var isDeclared: Bool
        /// The name of the `KeyState`, and why the key is not ready; nil for a key that is not declared.
        public var fitness: String?
        public var complaint: String?
        /// Without attributes that lead to a secret.
        public var uri: String?
        /// `token` or `process`.
        public var custody: String?
    }

    public struct Account: Codable, Sendable {
        public var issuerID: String
        /// Whether two administrators are required.
        public var hasDualControl: Bool
        public var keys: [Key]

        private enum CodingKeys: String, CodingKey {
            case issuerID = "issuerId"
            case hasDualControl = "dualControl"
            case keys
        }
    }

    public var accounts: [Account]
    public var proposals: [KeyProposal]
    public var jobs: [ProvisioningJob]
    /// The differences between configuration and register, each with the state that applies and the remedy.
    public var differences: [String]

    private enum CodingKeys: String, CodingKey {
        case accounts, proposals
        case jobs = "ceremonies"
        case differences
    }

    public init(
        accounts: [Account], proposals: [KeyProposal] = [], jobs: [ProvisioningJob] = [], differences: [String] = []
    ) {
        self.accounts = accounts
        self.proposals = proposals
        self.jobs = jobs
        self.differences = differences
    }
}

// The members of the record stand beside the others.
extension KeyLifecycleOverview.Key: Codable {
    private enum CodingKeys: String, CodingKey {
        case recorded, declared, fitness, complaint, uri, custody
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            life: try KeyLifecycleRecord(from: decoder),
            isRecorded: try members.decodeIfPresent(Bool.self, forKey: .recorded) ?? true,
            isDeclared: try members.decode(Bool.self, forKey: .declared),
            fitness: try members.decodeIfPresent(String.self, forKey: .fitness),
            complaint: try members.decodeIfPresent(String.self, forKey: .complaint),
            uri: try members.decodeIfPresent(String.self, forKey: .uri),
            custody: try members.decodeIfPresent(String.self, forKey: .custody))
    }

    public func encode(to encoder: any Encoder) throws {
        try life.encode(to: encoder)
        let others: JSONMembers = [
            "recorded": isRecorded, "declared": isDeclared, "fitness": fitness, "complaint": complaint, "uri": uri,
            "custody": custody,
        ]
        try others.encode(to: encoder)
    }
}
