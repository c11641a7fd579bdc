public import SigningKit

/// The outcomes of the load's requests.
public struct LoadSummary: Codable, Sendable, Equatable {
    /// A period of the drill. All intervals have the same length.
    public struct Interval: Codable, Sendable, Equatable {
        /// The beginning of the period.
        public var at: Timestamp
        public var served = 0
        public var failed = 0
        /// The served requests by key ID.
        public var byKey: [String: Int] = [:]
    }

    /// Signed, with a verified signature.
    public var served = 0
    /// Not signed: refused, or not answered.
    public var failed = 0
    /// The failed requests outside the drill's outages.
    public var failedUnexcused = 0
    public var wronglySigned = 0
    /// The served requests by key ID.
    public var byKey: [String: Int] = [:]
    /// The failed requests by reason: the HTTP status, or why there was no answer.
    public var byReason: [String: Int] = [:]
    /// The length of an interval, in milliseconds.
    public var intervalMs = 0
    public var intervals: [Interval] = []

    /// How many requests failed for each reason.
    var reasons: String {
        byReason.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
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
        intervalMs = Int(length)
        intervals = (0...span / length).map { Interval(at: Timestamp(milliseconds: begin.milliseconds + $0 * length)) }
        for answer in answers {
            let number = Int((answer.ended.milliseconds - begin.milliseconds) / length)
            let index = min(max(0, number), intervals.count - 1)
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
                if !rules.excuses(answer) { failedUnexcused += 1 }
            case .served, .wronglySigned:
                wronglySigned += 1
            }
        }
    }
}

/// The drill's rules for the load: when a key must not sign, and when requests may fail.
public struct LoadRules: Sendable {
    /// The time from which each key must not sign requests that name no key, by key ID.
    public private(set) var bans: [String: Timestamp] = [:]
    /// Periods in which requests may fail. The last one may have no end yet.
    private var outages: [(begin: Timestamp, end: Timestamp?)] = []

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
