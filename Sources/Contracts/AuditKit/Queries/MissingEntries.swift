/// Entries that a reader expected in the store and did not find.
public struct MissingEntries: Hashable, Sendable {
    /// The lowest missing index.
    public private(set) var first: Int
    public private(set) var count: Int

    /// Nil for an empty range.
    public init?(_ range: Range<Int>) {
        guard !range.isEmpty else { return nil }
        (first, count) = (range.lowerBound, range.count)
    }

    mutating func add(_ other: MissingEntries) {
        first = min(first, other.first)
        let (sum, overflows) = count.addingReportingOverflow(other.count)
        count = overflows ? .max : sum
    }

    /// Says why the entries are missing, and what the operator should do.
    ///
    /// - Parameter begin: the log's first index now.
    public func sentence(beginningAt begin: Int) -> String {
        if first < begin {
            return "Entries before \(begin) were archived while they were read: from \(first) on, some are left out. "
                + "Run it again to get all entries that the log has now."
        }
        return count == 1
            ? "Entry \(first) is missing in the log: run privyseal audit verify."
            : "\(count) entries are missing in the log, the first is \(first): run privyseal audit verify."
    }
}

extension Optional where Wrapped == MissingEntries {
    public mutating func add(_ range: Range<Int>) {
        guard let more = MissingEntries(range) else { return }
        if self == nil { self = more } else { self?.add(more) }
    }
}
