public import SigningKit

/// What a drill leaves behind: who did what, what should have happened and what did, and where the evidence is.
public struct DrillRecord: Sendable, Equatable {
    public struct Participant: Sendable, Equatable {
        public var name: String
        public var role: String

        public init(name: String, role: String) {
            self.name = name
            self.role = role
        }
    }

    /// The gateway that it was tried on.
    public struct Gateway: Sendable, Equatable {
        public var version: String
        /// Where it was asked.
        public var address: String
        /// SHA-256 of its configuration, as its status has it.
        public var configuration: String?
        /// Whether the drill made it, with keys and token, for itself.
        public var isThrowAway: Bool

        public init(version: String, address: String, configuration: String?, isThrowAway: Bool) {
            self.version = version
            self.address = address
            self.configuration = configuration
            self.isThrowAway = isThrowAway
        }
    }

    /// Something that was proved, such as a proof of possession.
    public struct Proof: Sendable, Equatable {
        public var kind: String
        /// What it is about: a key ID, mostly.
        public var subject: String
        public var detail: String
        public var time: Timestamp

        public init(kind: String, subject: String, detail: String, time: Timestamp) {
            self.kind = kind
            self.subject = subject
            self.detail = detail
            self.time = time
        }
    }

    /// The entries of the audit log that tell of it.
    public struct AuditRange: Sendable, Equatable {
        /// Indices, both of them included.
        public var first: Int
        public var last: Int
        /// A signed note that covers them.
        public var checkpoint: String

        public init(first: Int, last: Int, checkpoint: String) {
            self.first = first
            self.last = last
            self.checkpoint = checkpoint
        }
    }

    /// What a key was for a while.
    public struct KeySpan: Sendable, Equatable {
        public var keyID: String
        /// Such as `active`.
        public var state: String
        public var begin: Timestamp
        public var end: Timestamp

        public init(keyID: String, state: String, begin: Timestamp, end: Timestamp) {
            self.keyID = keyID
            self.state = state
            self.begin = begin
            self.end = end
        }
    }

    public var id: String
    public var scenario: DrillScenario
    /// Or it came as a surprise to those who took part.
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
    /// Nil where the gateway keeps no log.
    public var audit: AuditRange?
    /// What was not as it should have been, or not done as planned: a sentence each.
    public var deviations: [String]
    /// The key that was active at the beginning.
    public var oldKey: String?
    /// The one that took its place.
    public var newKey: String?
    /// What each key was while the drill ran.
    public var keySpans: [KeySpan]

    public init(
        id: String, scenario: DrillScenario, isPlanned: Bool, participants: [Participant], gateway: Gateway,
        begun: Timestamp, ended: Timestamp, steps: [DrillStep], timings: [DrillTiming: Int], load: LoadSummary,
        proofs: [Proof], audit: AuditRange?, deviations: [String], oldKey: String?, newKey: String?,
        keySpans: [KeySpan]
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

    /// Passed when every step was, nothing was wrongly signed, nothing failed but in an outage that was part of it, and
    /// there was load at all.
    public var verdict: DrillVerdict {
        let isWell =
            !steps.isEmpty && steps.allSatisfy { $0.verdict == .passed } && load.wronglySigned == 0
            && load.unexcused == 0 && load.served > 0
        return isWell ? .passed : .failed
    }

    /// Why it failed, in a sentence each; empty for one that passed.
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
