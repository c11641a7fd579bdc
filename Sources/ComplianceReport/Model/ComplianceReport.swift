public import SigningKit

/// What was checked, of every key and of the installation, and how it came out.
public struct ComplianceReport: Sendable {
    /// A name with a value that is told, not judged.
    public struct Fact: Sendable, Equatable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Checks that belong together.
    public struct Section: Sendable {
        /// Such as `clients`, for machines.
        public var id: String
        public var title: String
        public var facts: [Fact]
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
    public struct HistoryLine: Sendable {
        public var time: Timestamp
        /// Such as `activate`.
        public var action: String
        /// Such as `staged → active`.
        public var change: String
        public var actor: String
        public var approver: String?
        public var reason: String
    }

    /// The newest checkpoint of the audit log when the report was made.
    public struct Anchor: Sendable, Equatable {
        public var origin: String
        /// Entries.
        public var size: Int
        /// Hexadecimal digits.
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
    /// Nil for an installation without an audit log, or without entries in it.
    public var anchor: Anchor?

    public var checks: [ComplianceCheck] { sections.flatMap(\.checks) + keys.flatMap(\.checks) }
    public var tally: ComplianceTally { ComplianceTally(checks) }
}
