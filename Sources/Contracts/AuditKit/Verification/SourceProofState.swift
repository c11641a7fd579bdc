/// The results of the checkpoints of one source during the walk.
struct SourceProofState {
    /// A checkpoint that does not fit.
    struct Refutation {
        /// The entries that no earlier checkpoint of this source proves.
        let entries: Range<Int>
        /// Whether it was reported at once, because no other fault explains it.
        let isTold: Bool
    }

    /// Checkpoints prove the entries before this index.
    private(set) var provedByEntries = 0
    /// Up to this index, they also prove entries in segments that fit their recorded roots.
    private(set) var proved = 0
    private(set) var refutations: [Refutation] = []
    /// Whether a suspected entry, or a reported checkpoint, since the last valid checkpoint explains a mismatch.
    private var isExplained = false

    mutating func noteMismatch() { isExplained = true }

    mutating func prove(_ size: Int, isByEntries: Bool) {
        if isByEntries { provedByEntries = size }
        proved = size
        isExplained = false
    }

    /// - Returns: the entries to report; nil if another fault explains the mismatch.
    mutating func noteWrongRoot(_ size: Int) -> Range<Int>? {
        let entries = (proved < size ? proved : 0)..<size
        refutations.append(Refutation(entries: entries, isTold: !isExplained))
        defer { isExplained = true }
        return isExplained ? nil : entries
    }
}
