import Encodings
public import KeyLifecycle
import Signing
public import SigningKit
public import TransparencyLog

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
        public var history: [KeyLifecycleChange]

        public var tally: ComplianceTally { ComplianceTally(checks) }
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

        /// - Parameter checkpoint: The checkpoint in the note.
        public init(note: String, _ checkpoint: Checkpoint) {
            (origin, size) = (checkpoint.origin, checkpoint.size)
            root = Hexadecimal.encode(checkpoint.root.bytes)
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

extension KeyLifecycleChange {
    /// Such as `staged → active`.
    var states: String { (from.map { "\($0.rawValue) → " } ?? "") + to.rawValue }
}
