/// How a search read the log. The index is not trusted: the search misses an entry that the index omits.
public struct SearchCoverage: Hashable, Sendable {
    /// Entries for which the index decided whether to read them.
    public var byIndex = 0
    /// Entries read without the index.
    public var byReading = 0
    /// Matching entries that the index named.
    public var foundByIndex = 0
    /// All matching entries passed to the caller.
    public var found = 0
    /// Entries that were not found, because they are damaged or were archived during the search. Nil if there are none.
    public var missing: MissingEntries?

    /// Whether the caller ended the search early.
    public var isStopped = false

    public init() {}

    /// Describes a search. Nil if the search did not use the index.
    public var sentence: String? {
        let end = isStopped ? "were found until the search stopped" : "match"
        return sentence("it named \(foundByIndex) of the \(found) that \(end)")
    }

    /// Describes counts. Nil if they did not use the index.
    public var countSentence: String? { sentence("an entry that it omits is not counted") }

    private func sentence(_ result: String) -> String? {
        guard byIndex > 0 else { return nil }
        // The remedy is a copy, because a running gateway rebuilds its index.
        return "The search index answered for \(byIndex) of \(byIndex + byReading) entries; \(result). To read every "
            + "entry, search a copy of the log without its index."
    }
}

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

    fileprivate mutating func add(_ range: Range<Int>) {
        guard let more = MissingEntries(range) else { return }
        add(more)
    }

    fileprivate mutating func add(_ more: MissingEntries) {
        first = min(first, more.first)
        let (sum, overflows) = count.addingReportingOverflow(more.count)
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
    /// Adds the missing entries that another search of the same log found.
    mutating func add(_ more: MissingEntries) {
        if self == nil { self = more } else { self?.add(more) }
    }

    public mutating func add(_ range: Range<Int>) {
        if self == nil { self = MissingEntries(range) } else { self?.add(range) }
    }
}

extension AuditReader {
    /// The log's first index if archived entries may match the query; nil if none can, assuming a clock never set back.
    public func archived(before query: AuditQuery) throws(AuditStoreError) -> Int? {
        let first = try firstIndex()
        guard first > query.indexes.lowerBound else { return nil }
        guard let since = query.since else { return first }
        let time = try entry(at: first).flatMap { EntryFields($0.body)?.time }
        return time.map { since < $0 } ?? false ? first : nil
    }
}
