/// A fault of a log, with the entries that it concerns. The description is a sentence.
public enum AuditFault: Hashable, Sendable {
    /// The source of a checkpoint.
    public enum Source: Int, Hashable, Sendable {
        /// Kept in the store, besides the entries.
        case kept
        /// The log's latest signed tree head.
        case head
        /// An external checkpoint: kept outside the log.
        case external
    }

    /// The store itself is damaged. The text is the store's.
    case store(String)
    /// There are entries, but no signed tree head.
    case missingHead(entries: Int)
    /// The checkpoint is not valid, for the reason in the text.
    case checkpoint(size: Int, Source, String)
    /// The log is shorter than the checkpoint.
    case truncated(size: Int, checkpoint: Int, Source)
    /// The bytes of these entries changed.
    case changed(Range<Int>)
    /// These indexes hold entries that were recorded from index `from` on.
    case moved(Range<Int>, from: Int)
    case missing(Range<Int>)
    /// Several entries have this index.
    case repeated(Int)
    /// The store could not read these entries. The text is the store's.
    case unreadable(Range<Int>, String)
    /// These entries follow the last one that the head covers.
    case beyondHead(Range<Int>)
    /// Some of these entries changed, and their marks were recomputed to fit.
    case forged(Range<Int>)
    /// Some of these entries changed, as the checkpoint of the given size proves.
    case rewritten(Range<Int>, checkpoint: Int, Source)
    /// Only the marks of these entries changed.
    case mark(Range<Int>)
    /// Only the recorded root of this segment changed.
    case segmentRoot(Int)
    /// The number of recorded segment roots is not the expected number.
    case segmentCount(Int, expected: Int)
    /// These entries are gone, and the log does not record their archiving.
    case unarchived(Range<Int>)
    /// The newest checkpoint, or the log if there is none, lacks a cosignature. `size` entries are cosigned.
    case uncosigned(size: Int, checkpoint: Int)
    /// The newest external checkpoint lies in an archived segment that the archive did not supply.
    case uncompared(checkpoint: Int)
    /// The register's value does not fit the entry with this index; nil if no entry mentions the register.
    case register(String, Int?)
    /// The entry with this index records a register that does not exist.
    case registerMissing(String, Int)
    /// The registers are not those that the head covers, and no entry shows which one differs.
    case registers
    /// The archive's content for a segment is not what the log recorded.
    case archive(segment: Int)
}

extension AuditFault {
    /// The entries concerned; nil if the fault concerns the log as a whole.
    public var entries: Range<Int>? {
        switch self {
        case .store, .missingHead, .segmentCount, .register, .registerMissing, .registers, .uncosigned, .uncompared: nil
        case .checkpoint(let size, _, _): size..<size
        case .truncated(let size, let checkpoint, _): size..<max(size, checkpoint)
        case .changed(let entries), .moved(let entries, _), .missing(let entries), .unreadable(let entries, _),
            .beyondHead(let entries), .forged(let entries), .rewritten(let entries, _, _), .mark(let entries),
            .unarchived(let entries):
            entries
        case .repeated(let index): index..<index + 1
        case .segmentRoot(let segment), .archive(let segment): AuditSegment.entries(of: segment)
        }
    }

    /// Whether the report lists this fault beyond the fault limit, because it concerns the log as a whole.
    var isAlwaysReported: Bool {
        switch self {
        case .rewritten, .truncated, .missingHead: true
        default: entries == nil
        }
    }

    /// Joins two faults of the same kind if `next` begins where this one ends; otherwise nil.
    func joined(with next: AuditFault) -> AuditFault? {
        guard let first = entries, let second = next.entries, first.upperBound == second.lowerBound else { return nil }
        let both = first.lowerBound..<second.upperBound
        switch (self, next) {
        case (.changed, .changed): return .changed(both)
        case (.missing, .missing): return .missing(both)
        case (.mark, .mark): return .mark(both)
        case (.forged, .forged): return .forged(both)
        case (.moved(let entries, let from), .moved(_, let other)):
            return other - from == entries.count ? .moved(both, from: from) : nil
        default: return nil
        }
    }
}

extension AuditSegment {
    public static func entries(of segment: Int) -> Range<Int> { segment * size..<(segment + 1) * size }
}
