public import SigningKit

/// The record of a drill: participants, steps with expected and actual results, and evidence.
public struct DrillRecord: Encodable, Sendable, Equatable {
    public struct Participant: Codable, Sendable, Equatable {
        public var name: String
        public var role: String

        public init(name: String, role: String) {
            self.name = name
            self.role = role
        }
    }

    public struct Gateway: Codable, Sendable, Equatable {
        public var version: String
        /// The address to which the drill sent its requests.
        public var address: String
        /// The SHA-256 of its configuration, from its status.
        public var configuration: String?
        /// Whether the drill created the gateway, with its keys and token.
        public var isTemporary: Bool

        private enum CodingKeys: String, CodingKey {
            case version, address, configuration
            case isTemporary = "throwAway"
        }

        public init(version: String, address: String, configuration: String?, isTemporary: Bool) {
            self.version = version
            self.address = address
            self.configuration = configuration
            self.isTemporary = isTemporary
        }
    }

    /// A proof made in the drill, such as a proof of possession.
    public struct Proof: Codable, Sendable, Equatable {
        public var kind: String
        /// The subject of the proof, usually a key ID.
        public var subject: String
        public var detail: String
        public var time: Timestamp

        private enum CodingKeys: String, CodingKey {
            case kind, subject, detail
            case time = "at"
        }
    }

    /// The audit log entries about the drill.
    public struct AuditRange: Codable, Sendable, Equatable {
        /// `first` and `last` are the indices of the first and the last entry.
        public var first: Int
        public var last: Int
        /// A signed note that covers the entries.
        public var checkpoint: String

        public init(first: Int, last: Int, checkpoint: String) {
            self.first = first
            self.last = last
            self.checkpoint = checkpoint
        }
    }

    /// The state of a key in a period.
    public struct KeyStateSpan: Codable, Sendable, Equatable {
        public var keyID: String
        /// Such as `active`.
        public var state: String
        public var begin: Timestamp
        public var end: Timestamp

        private enum CodingKeys: String, CodingKey {
            case keyID = "keyId"
            case state
            case begin = "from"
            case end = "to"
        }

        public init(keyID: String, state: String, begin: Timestamp, end: Timestamp) {
            self.keyID = keyID
            self.state = state
            self.begin = begin
            self.end = end
        }
    }

    public var id: String
    public var scenario: DrillScenario
    /// False if the drill was a surprise to the participants.
    public var isPlanned: Bool
    public var participants: [Participant]
    public var gateway: Gateway
    public var begun: Timestamp
    public var ended: Timestamp
    public var steps: [DrillStep]
    /// In milliseconds.
    public var timings: [DrillTiming: Int]
    public var load: LoadSummary
    public var proofs: [Proof]
    /// Nil if the gateway has no audit log.
    public var audit: AuditRange?
    /// Differences from the expected results or from the plan, one sentence each.
    public var deviations: [String]
    /// The key that was active at the start.
    public var oldKey: String?
    /// The key that replaced it.
    public var newKey: String?
    public var keySpans: [KeyStateSpan]

    public init(
        id: String, scenario: DrillScenario, isPlanned: Bool, participants: [Participant], gateway: Gateway,
        begun: Timestamp, ended: Timestamp, steps: [DrillStep], timings: [DrillTiming: Int], load: LoadSummary,
        proofs: [Proof], audit: AuditRange?, deviations: [String], oldKey: String?, newKey: String?,
        keySpans: [KeyStateSpan]
    ) {
        self.id = id
        self.scenario = scenario
        self.isPlanned = isPlanned
        self.participants = participants
        self.gateway = gateway
        self.begun = begun
        self.ended = ended
        self.steps = steps
        self.timings = timings
        self.load = load
        self.proofs = proofs
        self.audit = audit
        self.deviations = deviations
        self.oldKey = oldKey
        self.newKey = newKey
        self.keySpans = keySpans
    }

    /// Passed if there were steps and all passed, no answer was wrongly signed, no request failed outside an outage of
    /// the drill, and at least one request was served.
    public var verdict: DrillVerdict {
        let isWell =
            !steps.isEmpty && steps.allSatisfy { $0.verdict == .passed } && load.wronglySigned == 0
            && load.unexcused == 0 && load.served > 0
        return isWell ? .passed : .failed
    }

    /// The reasons for a failure, one sentence each; empty if the drill passed.
    public var complaints: [String] {
        var complaints = steps.filter { $0.verdict == .failed }.map { "The step \"\($0.title)\" failed: \($0.actual)" }
        if steps.isEmpty { complaints.append("No step was done.") }
        if load.wronglySigned > 0 {
            complaints.append("\(load.wronglySigned) answers were wrongly signed.")
        }
        if load.unexcused > 0 {
            complaints.append("\(load.unexcused) requests failed outside an outage that was part of the drill.")
        }
        if load.served == 0 { complaints.append("No request was served.") }
        return complaints
    }
}
