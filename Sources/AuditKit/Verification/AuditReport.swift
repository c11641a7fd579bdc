public import TransparencyLog

/// What came out of verifying a log.
public struct AuditReport: Sendable {
    /// Which log.
    public internal(set) var origin: String
    /// Entries that the head signs for.
    public internal(set) var size = 0
    /// Of the tree over them, computed; nil where entries are missing.
    public internal(set) var root: MerkleHash?
    /// Checkpoints kept in the log, the head among them, whose roots were compared.
    public internal(set) var keptChecked = 0
    public internal(set) var externalChecked = 0
    /// Entries that a checkpoint with a co-signature covers; nil where no cosigner's key was given.
    public internal(set) var cosigned: Int?
    /// Checkpoints inside archived segments that were not given.
    public internal(set) var uncheckable = 0
    /// Entries that are not in the store any more, by the log's own account.
    public internal(set) var archived = 0
    /// Those of them that an archive gave, and that are right.
    public internal(set) var archivedChecked = 0
    /// Entries that no checkpoint proves as they stand, in order: whatever is told of them or not, any may be wrong. Of
    /// archived segments that were not read, a checkpoint proves the roots.
    public internal(set) var unproved: [Range<Int>] = []
    /// In order of index: the first of them, at most as many as were asked for, and those that are grave.
    public internal(set) var faults: [AuditFault] = []
    /// All of them.
    public internal(set) var faultCount = 0

    public var isIntact: Bool { faultCount == 0 }
}
