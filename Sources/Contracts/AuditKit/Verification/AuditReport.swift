public import SigningKit
public import TransparencyLog

/// The result of verifying a log: the faults from the first wrong entry on, and the entries that are still proved.
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
    /// The last compared checkpoint that enough witnesses cosigned; nil if no policy was given, or without one.
    public internal(set) var witnessed: WitnessedCheckpoint?
    /// The number of checkpoints inside archived segments that the archive did not supply.
    public internal(set) var uncheckable = 0
    /// The number of archived entries, according to the log.
    public internal(set) var archived = 0
    /// The number of archived entries that the archive supplied and that fit.
    public internal(set) var archivedChecked = 0
    /// The entries that no checkpoint proves, in order. Any of them may be wrong, reported or not. For archived
    /// segments that were not read, a checkpoint proves only the roots.
    public internal(set) var unproved: [Range<Int>] = []
    /// Sorted by entry: the first ones up to the limit, and all grave ones.
    public internal(set) var faults: [AuditFault] = []
    /// The number of all faults.
    public internal(set) var faultCount = 0

    public var isIntact: Bool { faultCount == 0 }

    /// A sentence on what the checkpoints still prove; nil without a fault. An attacker who fits the mark of one
    /// changed entry can hide it behind another, named fault. No checkpoint can be made to prove it.
    public var proof: String? {
        if isIntact || size == 0 && unproved.isEmpty { return nil }
        // The holder of the log's key can sign any state, so the sentence names the source of the checkpoints.
        let checkpoints = externalChecked > 0 ? "The checkpoints" : "The log's own checkpoints"
        if unproved.isEmpty { return "\(checkpoints) prove every entry that is present." }
        let named = unproved.prefix(Self.namedRanges).map { Sentence.entries($0, isFirst: false) }
        let rest = unproved.count - named.count
        let others = rest > 0 ? " and \(Sentence.number(rest)) more ranges" : ""
        return
            "No checkpoint proves \(named.joined(separator: ", "))\(others): these may have more faults than are "
            + "listed. \(checkpoints) prove all others."
    }

    private static let namedRanges = 10
}

/// A checkpoint that enough witnesses have cosigned.
public struct WitnessedCheckpoint: Hashable, Sendable {
    /// The number of entries.
    public let size: Int
    /// The latest time at or after which enough witnesses cosigned, by their own clocks.
    public let time: Timestamp
}

/// A fault of a log. The description is a sentence.
public struct AuditFault: Hashable, Sendable, CustomStringConvertible {
    /// The entries concerned; nil if the fault concerns the log as a whole.
    public let entries: Range<Int>?
    public let description: String
    /// Whether the report has this fault even beyond its limit.
    let isGrave: Bool
}

/// Collects faults. It is bounded, so that a log with a fault in every entry does not fill the memory.
struct FaultList {
    /// The number of faults kept; further ones are only counted. Grave faults have twice the limit.
    static let capacity = 10_000

    private var faults: [AuditFault] = []
    private var dropped = 0

    /// Adds a grave fault of the log as a whole.
    mutating func add(_ description: String) { add(nil, description, isGrave: true) }

    mutating func add(_ entries: Range<Int>?, _ description: String, isGrave: Bool = false) {
        guard faults.count < (isGrave ? 2 * Self.capacity : Self.capacity) else { return dropped += 1 }
        faults.append(AuditFault(entries: entries, description: description, isGrave: isGrave))
    }

    /// The entries that the faults name.
    var entries: RangeSet<Int> { RangeSet(faults.compactMap(\.entries)) }

    /// Counts faults that are not kept.
    mutating func count(_ more: Int) { dropped += more }

    /// The faults sorted by entry: those of the log as a whole first, and then the first wrong entry.
    ///
    /// - Parameter limit: the number of faults to return; grave ones are returned beyond it.
    func inOrder(limit: Int) -> (first: [AuditFault], count: Int) {
        // The sort is stable.
        let sorted = faults.sorted { first, second in
            let (one, other) = (first.entries ?? -1 ..< -1, second.entries ?? -1 ..< -1)
            return (one.lowerBound, one.upperBound) < (other.lowerBound, other.upperBound)
        }
        let reported = sorted.enumerated().filter { $0.offset < limit || $0.element.isGrave }
        return (reported.map(\.element), faults.count + dropped)
    }
}
