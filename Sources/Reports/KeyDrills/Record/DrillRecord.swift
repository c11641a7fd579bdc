public import SigningKit
public import StrictJSON

/// The result of a step or of the whole drill.
public enum DrillVerdict: String, Codable, Sendable {
    case passed, failed
}

/// A step of a drill, with its expected and actual result.
public struct DrillStep: Codable, Sendable, Equatable {
    public var title: String
    public var expected: String
    public var actual: String
    public var begun: Timestamp
    public var ended: Timestamp
    public var verdict: DrillVerdict
}

/// The record of a drill: participants, steps with expected and actual results, and evidence.
public struct DrillRecord: Codable, Sendable, Equatable {
    public struct Participant: Codable, Sendable, Equatable {
        public var name: String
        public var role: String

        public init(name: String, role: String) {
            (self.name, self.role) = (name, role)
        }
    }

    public struct Gateway: Codable, Sendable, Equatable {
        public var version = "unknown"
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

        public init(address: String, isTemporary: Bool) {
            (self.address, self.isTemporary) = (address, isTemporary)
        }
    }

    /// A proof made in the drill, such as a proof of possession.
    public struct Proof: Codable, Sendable, Equatable {
        public var kind: String
        /// The subject of the proof, usually a key ID.
        public var subject: String
        public var detail: String
        public var at: Timestamp
    }

    /// The audit log entries about the drill.
    public struct AuditRange: Codable, Sendable, Equatable {
        /// `first` and `last` are the indices of the first and the last entry.
        public var first: Int
        public var last: Int
        /// A signed note that covers the entries.
        public var checkpoint: String

        public init(first: Int, last: Int, checkpoint: String) {
            (self.first, self.last, self.checkpoint) = (first, last, checkpoint)
        }
    }

    public struct Keys: Codable, Sendable, Equatable {
        /// The key that was active at the start.
        public var old: String?
        /// The key that replaced it.
        public var new: String?
        public var states: [KeyStateSpan] = []
    }

    public private(set) var id: String
    public private(set) var scenario: DrillScenario
    /// False if the drill was a surprise to the participants.
    public private(set) var isPlanned: Bool
    public private(set) var participants: [Participant]
    public var gateway: Gateway
    public private(set) var begun: Timestamp
    public var ended: Timestamp
    public internal(set) var steps: [DrillStep] = []
    public internal(set) var timings = DrillTimings()
    public var load = LoadSummary()
    public internal(set) var proofs: [Proof] = []
    /// Nil if the gateway has no audit log.
    public var audit: AuditRange?
    /// Differences from the expected results or from the plan, one sentence each.
    public internal(set) var deviations: [String] = []
    public var keys = Keys()

    public init(
        _ scenario: DrillScenario, isPlanned: Bool, participants: [Participant], gateway: Gateway, begun: Timestamp
    ) {
        id = DrillID.of(scenario, begun: begun)
        (self.scenario, self.isPlanned, self.participants) = (scenario, isPlanned, participants)
        (self.gateway, self.begun, ended) = (gateway, begun, begun)
    }

    /// Passed if there were steps and all passed, no answer was wrongly signed, no request failed outside an outage of
    /// the drill, and at least one request was served.
    public var verdict: DrillVerdict { complaints.isEmpty ? .passed : .failed }

    /// The reasons for a failure, one sentence each; empty if the drill passed.
    public var complaints: [String] {
        var complaints = steps.filter { $0.verdict == .failed }.map { "The step \"\($0.title)\" failed: \($0.actual)" }
        if steps.isEmpty { complaints.append("No step was done.") }
        if load.wronglySigned > 0 { complaints.append("\(load.wronglySigned) answers were wrongly signed.") }
        if load.failedUnexcused > 0 {
            complaints.append("\(load.failedUnexcused) requests failed outside an outage that was part of the drill.")
        }
        if load.served == 0 { complaints.append("No request was served.") }
        return complaints
    }
}

// MARK: JSON

extension DrillRecord {
    private static let version = 1

    private enum CodingKeys: String, CodingKey {
        case id, scenario
        case isPlanned = "planned"
        case participants, gateway, begun, ended, steps, timings, load, proofs, audit, deviations, keys
    }

    public init(from value: JSONValue) throws(JSONReadError) {
        let version: Int = try value.anyObject().decode("version")
        guard version == Self.version else {
            throw JSONReadError(.invalid("is \(version); only records of version 1 are supported"), at: "version")
        }
        self = try value.decode()
    }

    public func encode(to encoder: any Encoder) throws {
        let members: JSONMembers = [
            "version": Self.version, "id": id, "scenario": scenario, "planned": isPlanned,
            "participants": participants, "gateway": gateway, "begun": begun, "ended": ended, "verdict": verdict,
            "steps": steps, "timings": timings, "load": load, "proofs": proofs, "audit": audit,
            "deviations": deviations, "keys": keys,
        ]
        try members.encode(to: encoder)
    }
}

// MARK: States of keys

/// The state of a key in a period.
public struct KeyStateSpan: Codable, Sendable, Equatable {
    /// The state of an active key during an outage.
    static let down = "active, down"

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
        (self.keyID, self.state, self.begin, self.end) = (keyID, state, begin, end)
    }

    /// The span of an active key, split at outages: the register does not know whether the token is present.
    ///
    /// - Returns: The span itself for other states.
    public func split(at outages: [Range<Timestamp>]) -> [Self] {
        guard state == "active" else { return [self] }
        // The beginnings and the ends of the outages, in turns.
        let limits = outages.flatMap { [$0.lowerBound, $0.upperBound] }.map { min(max($0, begin), end) }
        return zip([begin] + limits, limits + [end]).enumerated().compactMap { index, part in
            let state = index.isMultiple(of: 2) ? state : Self.down
            return part.0 < part.1 ? Self(keyID: keyID, state: state, begin: part.0, end: part.1) : nil
        }
    }
}
