/// How a search came to its answer. The index is not trusted: an entry that it leaves out is not found.
public struct SearchCoverage: Hashable, Sendable {
    /// Entries of which the index said whether they are to be read.
    public var byIndex = 0
    /// Entries that were read without asking the index.
    public var byReading = 0
    /// Matching entries that the index named.
    public var foundByIndex = 0
    /// All matching entries that were shown.
    public var found = 0
    /// Entries that were not there: damaged, or archived meanwhile. Nil when there were none.
    public var missing: MissingEntries?

    /// Whether the search ended early, because its caller wanted no more.
    public var isStopped = false

    public init() {}

    /// How a search came to its entries. Nil for one that did not use the index.
    public var sentence: String? {
        guard byIndex > 0 else { return nil }
        return
            "The search index answered for \(byIndex) of \(byIndex + byReading) entries; it named \(foundByIndex) of "
            + "the \(found) that \(isStopped ? "were found until the search stopped" : "match"). \(Self.cure)"
    }

    /// How counts were made. Nil for counts without the index.
    public var countSentence: String? {
        guard byIndex > 0 else { return nil }
        return
            "The search index answered for \(byIndex) of \(byIndex + byReading) entries; an entry that it leaves out is not "
            + "counted. \(Self.cure)"
    }

    /// A gateway that runs makes its index again.
    private static let cure = "To have every entry read, search a copy of the log without its index."
}
