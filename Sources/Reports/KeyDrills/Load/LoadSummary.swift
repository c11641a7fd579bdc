public import SigningKit

/// The outcomes of the load's requests.
public struct LoadSummary: Codable, Sendable, Equatable {
    /// A period of the drill. All intervals have the same length.
    public struct Interval: Codable, Sendable, Equatable {
        public var begin: Timestamp
        public var served = 0
        public var failed = 0
        /// The served requests by key ID.
        public var byKey: [String: Int] = [:]

        private enum CodingKeys: String, CodingKey {
            case begin = "at"
            case served, failed, byKey
        }
    }

    /// Signed, with a verified signature.
    public var served = 0
    /// Not signed: refused, or not answered.
    public var failed = 0
    /// The failed requests outside the drill's outages.
    public var unexcused = 0
    public var wronglySigned = 0
    /// The served requests by key ID.
    public var byKey: [String: Int] = [:]
    /// The failed requests by reason: the HTTP status, or why there was no answer.
    public var byReason: [String: Int] = [:]
    /// In milliseconds.
    public var intervalLength = 0
    public var intervals: [Interval] = []

    private enum CodingKeys: String, CodingKey {
        case served, failed
        case unexcused = "failedUnexcused"
        case wronglySigned, byKey, byReason
        case intervalLength = "intervalMs"
        case intervals
    }
}

extension LoadSummary {
    /// Lengths of an interval in milliseconds. The timeline uses the first with at most `mostIntervals` intervals.
    private static let lengths: [Int64] = [100, 250, 500, 1000, 5000, 15_000, 60_000, 300_000, 3_600_000]
    static let mostIntervals: Int64 = 400

    /// Counts answers on a timeline from `begin` to `end`, which includes intervals without answers.
    public init(_ answers: [LoadAnswer], rules: LoadRules, from begin: Timestamp, to end: Timestamp) {
        let span = max(0, end.milliseconds - begin.milliseconds)
        let length = Self.lengths.first { span / $0 < Self.mostIntervals } ?? 86_400_000
        intervalLength = Int(length)
        intervals = (0...span / length).map {
            Interval(begin: Timestamp(milliseconds: begin.milliseconds + $0 * length))
        }
        for answer in answers {
            let index = Int((answer.ended.milliseconds - begin.milliseconds) / length)
            count(answer, rules, in: min(max(0, index), intervals.count - 1))
        }
    }

    private mutating func count(_ answer: LoadAnswer, _ rules: LoadRules, in index: Int) {
        switch answer.outcome {
        case .served(let keyID) where !rules.bans(answer, by: keyID):
            served += 1
            byKey[keyID, default: 0] += 1
            intervals[index].served += 1
            intervals[index].byKey[keyID, default: 0] += 1
        case .failed(let reason):
            failed += 1
            byReason[reason, default: 0] += 1
            intervals[index].failed += 1
            if !rules.excuses(answer) { unexcused += 1 }
        case .served, .wronglySigned:
            wronglySigned += 1
        }
    }
}

/// The drill's rules for the load: when a key must not sign, and when requests may fail.
public struct LoadRules: Sendable {
    /// The time from which each key must not sign requests that name no key, by key ID.
    public private(set) var bans: [String: Timestamp] = [:]
    /// Periods in which requests may fail. The last one may have no end yet.
    private var outages: [(begin: Timestamp, end: Timestamp?)] = []

    public init() {}

    /// An earlier ban of the key stays.
    public mutating func ban(_ keyID: String, from start: Timestamp) {
        bans[keyID] = min(bans[keyID] ?? start, start)
    }

    public mutating func beginOutage(_ begin: Timestamp) { outages.append((begin, nil)) }

    public mutating func endOutage(_ end: Timestamp) {
        for index in outages.indices where outages[index].end == nil { outages[index].end = end }
    }

    func excuses(_ answer: LoadAnswer) -> Bool {
        outages.contains { answer.ended >= $0.begin && answer.begun <= ($0.end ?? answer.begun) }
    }

    /// Whether the key must not have signed this answer.
    func bans(_ answer: LoadAnswer, by keyID: String) -> Bool { bans[keyID].map { answer.begun >= $0 } ?? false }
}
