/// Entries that should have been in a store when it was read, and were not.
public struct MissingEntries: Hashable, Sendable {
    /// The lowest of them.
    public private(set) var first: Int
    public private(set) var count: Int

    /// Nil where nothing is missing.
    public init?(_ range: Range<Int>) {
        guard !range.isEmpty else { return nil }
        (first, count) = (range.lowerBound, range.count)
    }

    mutating func add(_ other: MissingEntries) {
        first = min(first, other.first)
        let (sum, overflows) = count.addingReportingOverflow(other.count)
        count = overflows ? .max : sum
    }

    /// What became of them, and what to do.
    ///
    /// - Parameter begin: where the log begins by now.
    public func sentence(beginningAt begin: Int) -> String {
        if first < begin {
            return "Entries before \(begin) were archived while they were read: from \(first) on some are left out. "
                + "Run it again to have all that the log has now."
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
