public import SigningKit

/// The drill's rules for the load: when a key must not sign, and when requests may fail.
public struct LoadRules: Sendable {
    /// A request that begins at or after `start`, and before `end`, must not be signed with the key.
    public struct Ban: Sendable {
        public var keyID: String
        public var start: Timestamp
        /// Nil if the ban lasts until the end of the drill.
        public var end: Timestamp?
    }

    /// A period in which requests may fail.
    public struct Outage: Sendable {
        public var begin: Timestamp
        /// Nil during the outage.
        public var end: Timestamp?
    }

    public private(set) var bans: [Ban] = []
    public private(set) var outages: [Outage] = []

    public init() {}

    public mutating func ban(_ keyID: String, from start: Timestamp) {
        bans.append(Ban(keyID: keyID, start: start, end: nil))
    }

    public mutating func lift(_ keyID: String, at end: Timestamp) {
        for index in bans.indices where bans[index].keyID == keyID && bans[index].end == nil { bans[index].end = end }
    }

    public mutating func beginOutage(_ begin: Timestamp) {
        outages.append(Outage(begin: begin, end: nil))
    }

    public mutating func endOutage(_ end: Timestamp) {
        for index in outages.indices where outages[index].end == nil { outages[index].end = end }
    }

    func excuses(_ answer: LoadAnswer) -> Bool {
        outages.contains { answer.ended >= $0.begin && answer.begun <= ($0.end ?? answer.begun) }
    }

    /// Why the answer's signature must not exist; nil if it may exist.
    func fault(of answer: LoadAnswer) -> String? {
        if case .wronglySigned(let reason) = answer.outcome { return reason }
        guard let keyID = answer.keyID else { return nil }
        let isBanned = bans.contains { ban in
            ban.keyID == keyID && answer.begun >= ban.start && ban.end.map { answer.begun < $0 } ?? true
        }
        return isBanned ? "It was signed with \(keyID) after that key was taken out of use." : nil
    }
}
