import SigningKit
public import StrictJSON

/// All keys of a gateway, and what is under way: `GET /v1/keys`.
public struct KeyLifeOverview: Sendable {
    public struct Key: Sendable {
        /// With the state that holds in the gateway.
        public var life: KeyLifeRecord
        /// Whether the register has that state. It does not while a stop could not be recorded.
        public var isRecorded: Bool
        /// Whether the configuration names it.
        public var isDeclared: Bool
        /// How it fares, in one word, and why it is not ready; nil for one that is not declared.
        public var fitness: String?
        public var complaint: String?
        /// Without what leads to a secret.
        public var uri: String?
        /// `token` or `process`.
        public var custody: String?

        public init(
            life: KeyLifeRecord, isRecorded: Bool = true, isDeclared: Bool, fitness: String? = nil,
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
        /// Whether two administrators are wanted.
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
    public var ceremonies: [KeyCeremony]
    /// Where configuration and register differ: a sentence each, with what holds and what to do.
    public var differences: [String]

    public init(
        accounts: [Account], proposals: [KeyProposal] = [], ceremonies: [KeyCeremony] = [], differences: [String] = []
    ) {
        self.accounts = accounts
        self.proposals = proposals
        self.ceremonies = ceremonies
        self.differences = differences
    }
}

extension KeyLifeOverview: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            accounts: try object.list("accounts"), proposals: try object.list("proposals"),
            ceremonies: try object.list("ceremonies"), differences: try object.textList("differences"))
    }

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("accounts")
            writer.array { writer in for account in accounts { account.write(to: &writer) } }
            writer.name("proposals")
            writer.array { writer in for proposal in proposals { proposal.write(to: &writer) } }
            writer.name("ceremonies")
            writer.array { writer in for ceremony in ceremonies { ceremony.write(to: &writer) } }
            writer.name("differences")
            writer.array { writer in for sentence in differences { writer.string(sentence) } }
        }
    }
}

extension KeyLifeOverview.Account: JSONReadable, JSONWritable {
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

extension KeyLifeOverview.Key: JSONReadable, JSONWritable {
    public init(from value: JSONValue) throws(JSONReadError) {
        let object = try value.anyObject()
        self.init(
            life: try KeyLifeRecord(from: value), isRecorded: try object.optionalFlag("recorded") ?? true,
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
