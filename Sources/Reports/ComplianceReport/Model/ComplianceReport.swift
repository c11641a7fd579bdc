public import SigningKit

/// The checks of every key and of the installation, with their results.
public struct ComplianceReport: Sendable {
    public typealias Fact = KeyInspection.Fact

    /// A group of checks.
    public struct Section: Sendable {
        /// An ID for programs, such as `clients`.
        public var id: String
        public var title: String
        public var facts: [Fact] = []
        public var checks: [ComplianceCheck]
    }

    public struct Key: Sendable {
        public var issuerID: String
        public var keyID: String
        public var facts: [Fact]
        public var checks: [ComplianceCheck]
        public var history: [HistoryLine]

        public var tally: ComplianceTally { ComplianceTally(checks) }
    }

    /// A change of a key's state.
    public struct HistoryLine: Encodable, Sendable {
        public var time: Timestamp
        /// Such as `activate`.
        public var action: String
        /// Such as `staged → active`.
        public var change: String
        public var actor: String
        public var approver: String?
        public var reason: String

        private enum CodingKeys: String, CodingKey {
            case time = "at"
            case action, change, actor, approver, reason
        }
    }

    /// The newest checkpoint of the audit log when the report was made.
    public struct Anchor: Codable, Sendable, Equatable {
        public var origin: String
        /// The number of entries.
        public var size: Int
        /// In hexadecimal digits.
        public var root: String
        /// The signed note (C2SP tlog-checkpoint).
        public var note: String

        public init(origin: String, size: Int, root: String, note: String) {
            self.origin = origin
            self.size = size
            self.root = root
            self.note = note
        }
    }

    public var id: String
    public var made: Timestamp
    public var installation: [Fact]
    public var sections: [Section]
    public var keys: [Key]
    /// Nil if there is no audit log or the log has no entries.
    public var anchor: Anchor?

    public var checks: [ComplianceCheck] { sections.flatMap(\.checks) + keys.flatMap(\.checks) }
    public var tally: ComplianceTally { ComplianceTally(checks) }
}
