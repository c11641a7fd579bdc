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
        guard byIndex > 0 else { return nil }
        return
            "The search index answered for \(byIndex) of \(byIndex + byReading) entries; it named \(foundByIndex) of "
            + "the \(found) that \(isStopped ? "were found until the search stopped" : "match"). \(Self.cure)"
    }

    /// Describes counts. Nil if they did not use the index.
    public var countSentence: String? {
        guard byIndex > 0 else { return nil }
        return
            "The search index answered for \(byIndex) of \(byIndex + byReading) entries; an entry that it omits is not "
            + "counted. \(Self.cure)"
    }

    /// The remedy is a copy, because a running gateway rebuilds its index.
    private static let cure = "To read every entry, search a copy of the log without its index."
}
