public import TransparencyLog

/// The result of verifying a log.
public struct AuditReport: Sendable {
    public internal(set) var origin: String
    /// The number of entries that the head covers.
    public internal(set) var size = 0
    /// The computed root over these entries; nil if entries are missing.
    public internal(set) var root: MerkleHash?
    /// The number of compared checkpoints that the log itself keeps, head included.
    public internal(set) var keptChecked = 0
    public internal(set) var externalChecked = 0
    /// The number of entries that a cosigned checkpoint covers; nil if no cosigner's key was given.
    public internal(set) var cosigned: Int?
    /// The number of checkpoints inside archived segments that the archive did not supply.
    public internal(set) var uncheckable = 0
    /// The number of archived entries, according to the log.
    public internal(set) var archived = 0
    /// The number of archived entries that the archive supplied and that fit.
    public internal(set) var archivedChecked = 0
    /// The entries that no checkpoint proves, in order. Any of them may be wrong, reported or not. For archived
    /// segments that were not read, a checkpoint proves only the roots.
    public internal(set) var unproved: [Range<Int>] = []
    /// Sorted by index: the first ones up to the limit, and all grave ones.
    public internal(set) var faults: [AuditFault] = []
    /// The number of all faults.
    public internal(set) var faultCount = 0

    public var isIntact: Bool { faultCount == 0 }
}
