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
    public var served: Int
    /// Not signed: refused, or not answered.
    public var failed: Int
    /// The failed requests outside the drill's outages.
    public var unexcused: Int
    public var wronglySigned: Int
    /// The served requests by key ID.
    public var byKey: [String: Int]
    /// The failed requests by reason: the HTTP status, or why there was no answer.
    public var byReason: [String: Int]
    /// In milliseconds.
    public var intervalLength: Int
    public var intervals: [Interval]

    private enum CodingKeys: String, CodingKey {
        case served, failed
        case unexcused = "failedUnexcused"
        case wronglySigned, byKey, byReason
        case intervalLength = "intervalMs"
        case intervals
    }
}
