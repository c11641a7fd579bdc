import SigningKit
public import StrictJSON

/// All keys of a gateway, with open proposals and jobs: `GET /v1/keys`.
public struct KeyLifecycleOverview: Sendable {
    public struct Key: Sendable {
        /// The record, with the state that applies in the gateway.
        public var life: KeyLifecycleRecord
        /// Whether the register has that state. It does not after a stop that could not be recorded.
        public var isRecorded: Bool
        /// Whether the configuration names the key.
        public var isDeclared: Bool
        /// The name of the `KeyState`, and why the key is not ready; nil for a key that is not declared.
        public var fitness: String?
        public var complaint: String?
        /// Without attributes that lead to a secret.
        public var uri: String?
        /// `token` or `process`.
        public var custody: String?

        public init(
            life: KeyLifecycleRecord, isRecorded: Bool = true, isDeclared: Bool, fitness: String? = nil,
            complaint: String? = nil, uri: String? = nil,
            custody: String? = nil
        ) {
            self.life = life
            self.isRecorded = isRecorded
            self.isDeclared = isDeclared
            self.fitness = fitness
            self.complaint = complaint
            self.uri = uri
            self.custody = custody
        }
    }

    public struct Account: Sendable {
        public var issuerID: String
        /// Whether two administrators are required.
        public var hasDualControl: Bool
        public var keys: [Key]

        public init(issuerID: String, hasDualControl: Bool, keys: [Key]) {
            self.issuerID = issuerID
            self.hasDualControl = hasDualControl
            self.keys = keys
        }
    }

    public var accounts: [Account]
    public var proposals: [KeyProposal]
    public var jobs: [ProvisioningJob]
    /// The differences between configuration and register, each with the state that applies and the remedy.
    public var differences: [String]

    public init(
        accounts: [Account], proposals: [KeyProposal] = [], jobs: [ProvisioningJob] = [], differences: [String] = []
    ) {
        self.accounts = accounts
        self.proposals = proposals
        self.jobs = jobs
        self.differences = differences
    }
}

extension KeyLifecycleOverview: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            accounts: try object.list("accounts"), proposals: try object.list("proposals"),
            jobs: try object.list("ceremonies"), differences: try object.textList("differences"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("accounts")
            writer.array { writer in for account in accounts { account.write(to: &writer) } }
            writer.name("proposals")
            writer.array { writer in for proposal in proposals { proposal.write(to: &writer) } }
            writer.name("ceremonies")
            writer.array { writer in for job in jobs { job.write(to: &writer) } }
            writer.name("differences")
            writer.array { writer in for sentence in differences { writer.string(sentence) } }
        }
    }
}

extension KeyLifecycleOverview.Account: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            issuerID: try object.text("issuerId"), hasDualControl: try object.flag("dualControl"),
            keys: try object.list("keys"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("issuerId", issuerID)
            writer.member("dualControl", hasDualControl)
            writer.name("keys")
            writer.array { writer in for key in keys { key.write(to: &writer) } }
        }
    }
}

extension KeyLifecycleOverview.Key: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            life: try KeyLifecycleRecord(from: value), isRecorded: try object.optionalFlag("recorded") ?? true,
            isDeclared: try object.flag("declared"),
            fitness: try object.optionalText("fitness"), complaint: try object.optionalText("complaint"),
            uri: try object.optionalText("uri"), custody: try object.optionalText("custody"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            life.writeMembers(to: &writer)
            writer.member("recorded", isRecorded)
            writer.member("declared", isDeclared)
            if let fitness { writer.member("fitness", fitness) }
            if let complaint { writer.member("complaint", complaint) }
            if let uri { writer.member("uri", uri) }
            if let custody { writer.member("custody", custody) }
        }
    }
}
