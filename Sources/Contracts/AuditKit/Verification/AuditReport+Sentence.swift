extension AuditReport {
    /// A sentence on what the checkpoints still prove; nil without a fault. An attacker who fits the mark of one
    /// changed entry can hide it behind another, named fault. No checkpoint can be made to prove it.
    public var proof: String? {
        if isIntact || size == 0 && unproved.isEmpty { return nil }
        // The holder of the log's key can sign any state, so the sentence names the source of the checkpoints.
        let checkpoints = externalChecked > 0 ? "The checkpoints" : "The log's own checkpoints"
        if unproved.isEmpty { return "\(checkpoints) prove every entry that is present." }
        let named = unproved.prefix(Self.namedRanges).map { Sentence.entries($0, isFirst: false) }
        let rest = unproved.count - named.count
        let others = rest > 0 ? " and \(Sentence.number(rest)) more ranges" : ""
        return
            "No checkpoint proves \(named.joined(separator: ", "))\(others): these may have more faults than are "
            + "listed. \(checkpoints) prove all others."
    }

    private static let namedRanges = 10
}
