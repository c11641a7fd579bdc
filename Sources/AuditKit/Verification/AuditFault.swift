/// Something that is wrong with a log, with the entries that it is about. Its description is a plain sentence.
public enum AuditFault: Hashable, Sendable {
    /// Where a checkpoint comes from.
    public enum Source: Int, Hashable, Sendable {
        /// Kept in the store, beside its entries.
        case kept
        /// The last one in the store.
        case head
        /// From a second place.
        case external
    }

    /// The store itself is damaged; in its own words.
    case store(String)
    /// Entries without a head that signs for them.
    case headless(entries: Int)
    /// A checkpoint that cannot be believed, with the reason.
    case checkpoint(size: Int, Source, String)
    /// The log is shorter than a checkpoint says.
    case truncated(size: Int, checkpoint: Int, Source)
    /// Their bytes are others.
    case changed(Range<Int>)
    /// In their place stand those that were recorded from an index on.
    case moved(Range<Int>, from: Int)
    case missing(Range<Int>)
    /// Entries with one index.
    case repeated(Int)
    /// The store could not read them; in its own words.
    case unreadable(Range<Int>, String)
    /// Behind the end that the head signs for.
    case surplus(Range<Int>)
    /// Some of them are others, and their marks were made to fit.
    case forged(Range<Int>)
    /// Some of them are others, as the checkpoint of a size shows.
    case rewritten(Range<Int>, checkpoint: Int, Source)
    /// Their marks were changed, and nothing else.
    case mark(Range<Int>)
    /// The root that is recorded for a segment was changed, and nothing else.
    case segmentRoot(Int)
    /// As many roots of segments are recorded, in place of as many.
    case segmentCount(Int, expected: Int)
    /// They are gone, and the log does not say that they were archived.
    case unarchived(Range<Int>)
    /// The newest checkpoint, or the log where there is none, lacks the co-signature that this many entries have.
    case uncosigned(size: Int, checkpoint: Int)
    /// The newest checkpoint from elsewhere lies among archived entries that were not given.
    case uncompared(checkpoint: Int)
    /// What is registered under the name is not what the entry says; nil where no entry says anything of it.
    case register(String, Int?)
    /// Nothing is registered under the name, but the entry says that something was.
    case registerMissing(String, Int)
    /// They are not those that the head was signed for, and no entry says which.
    case registers
    /// What the archive holds for a segment is not what was recorded.
    case archive(segment: Int)
}

extension AuditFault {
    /// What it is about; nil for what is about the log as a whole.
    public var entries: Range<Int>? {
        switch self {
        case .store, .headless, .segmentCount, .register, .registerMissing, .registers, .uncosigned, .uncompared: nil
        case .checkpoint(let size, _, _): size..<size
        case .truncated(let size, let checkpoint, _): size..<max(size, checkpoint)
        case .changed(let entries), .moved(let entries, _), .missing(let entries), .unreadable(let entries, _),
            .surplus(let entries), .forged(let entries), .rewritten(let entries, _, _), .mark(let entries),
            .unarchived(let entries):
            entries
        case .repeated(let index): index..<index + 1
        case .segmentRoot(let segment), .archive(let segment): AuditSegment.entries(of: segment)
        }
    }

    /// Whether it is told however many others there are: it is about the log as a whole.
    var isGrave: Bool {
        switch self {
        case .rewritten, .truncated, .headless: true
        default: entries == nil
        }
    }

    /// One fault in place of two, when the other goes on where this one ends.
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
    /// The indexes of a segment.
    public static func entries(of segment: Int) -> Range<Int> { segment * size..<(segment + 1) * size }
}
