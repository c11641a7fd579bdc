/// What the checkpoints of one kind said along the way.
struct CheckpointTrail {
    /// A checkpoint that is wrong.
    struct Refutation {
        /// The entries that no earlier one of its kind proves.
        let entries: Range<Int>
        /// Whether nothing else explains it, so that it was told at once.
        let isTold: Bool
    }

    /// Entries before it are what the checkpoints cover.
    private(set) var provedByEntries = 0
    /// Those before it too, in segments that fit their recorded roots.
    private(set) var proved = 0
    private(set) var refutations: [Refutation] = []
    /// Whether something since the last checkpoint that is right speaks against an entry, or another one was told.
    private var isExplained = false

    mutating func suspect() { isExplained = true }

    mutating func prove(_ size: Int, isByEntries: Bool) {
        if isByEntries { provedByEntries = size }
        proved = size
        isExplained = false
    }

    /// - Returns: the entries that it speaks against; nil where something else explains it.
    mutating func refute(_ size: Int) -> Range<Int>? {
        let entries = (proved < size ? proved : 0)..<size
        refutations.append(Refutation(entries: entries, isTold: !isExplained))
        defer { isExplained = true }
        return isExplained ? nil : entries
    }
}
