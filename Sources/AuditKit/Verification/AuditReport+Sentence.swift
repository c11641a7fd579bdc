extension AuditReport {
    /// What the faults leave standing; nil without a fault. Who makes the mark of an entry fit can hide it behind another
    /// that is named, but cannot have a checkpoint prove it.
    public var proof: String? {
        if isIntact || size == 0 && unproved.isEmpty { return nil }
        // Who has the log's key signs what the log says of itself.
        let checkpoints = externalChecked > 0 ? "The checkpoints" : "The log's own checkpoints"
        if unproved.isEmpty { return "\(checkpoints) prove every entry that is there as it stands." }
        let named = unproved.prefix(Self.namedRanges).map { Sentence.entries($0, isFirst: false) }
        let rest = unproved.count - named.count
        let others = rest > 0 ? " and \(Sentence.number(rest)) more stretches" : ""
        return
            "No checkpoint proves \(named.joined(separator: ", "))\(others): more of them may be wrong than is named. "
            + "\(checkpoints) prove all others."
    }

    private static let namedRanges = 10
}
