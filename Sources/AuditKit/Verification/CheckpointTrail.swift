/// What the checkpoints of one kind said along the way.
struct CheckpointTrail {
    /// What was found since the last checkpoint that is right, and so explains one that is wrong.
    private enum Explanation {
        case none
        /// Something speaks against an entry.
        case entry
        /// An earlier checkpoint is wrong, too.
        case checkpoint
    }

    /// A checkpoint that is wrong, with the entries that no earlier one of its kind proves.
    struct Refutation {
        let entries: Range<Int>
        let checkpoint: CheckpointPlan.Stop
    }

    /// Entries before it are what the checkpoints cover.
    private(set) var provedByEntries = 0
    /// Those before it too, in segments that fit their recorded roots.
    private(set) var proved = 0
    /// The size of the largest that is wrong.
    private(set) var refuted = 0
    /// The first that is wrong in each stretch, though an entry explains it.
    private(set) var explained: [Refutation] = []
    private var explanation = Explanation.none

    /// More are not told apart.
    private static let capacity = 1000

    mutating func suspectEntry() {
        if explanation == .none { explanation = .entry }
    }

    mutating func prove(_ size: Int, isByEntries: Bool) {
        if isByEntries { provedByEntries = size }
        proved = size
        explanation = .none
    }

    /// - Returns: nil where something else explains it.
    mutating func refute(_ checkpoint: CheckpointPlan.Stop) -> Refutation? {
        defer { explanation = .checkpoint }
        refuted = checkpoint.size
        let begin = proved < checkpoint.size ? proved : 0
        let refutation = Refutation(entries: begin..<checkpoint.size, checkpoint: checkpoint)
        switch explanation {
        case .none: return refutation
        case .entry where explained.count < Self.capacity: explained.append(refutation)
        case .entry, .checkpoint: break
        }
        return nil
    }
}
