/// What speaks against entries, and what for them. Which of a changed mark and a changed entry it is can be said only when a
/// later checkpoint has proved the entry, so the judgement comes last.
struct VerificationEvidence {
    private enum Suspicion {
        /// Entries of one segment that do not fit their marks; with where the first was recorded if they were moved with them.
        case entries(Range<Int>, from: Int?)
        /// The segment does not fit its root; and whether something else may explain it.
        case segment(Int, isExplained: Bool)
    }

    /// More are not told apart.
    private static let capacity = 10_000

    private var suspicions: [Suspicion] = []
    /// In order.
    private var wrongSegments: [Int] = []
    private var isSegmentSuspicious = false
    /// Checkpoints in the log, and those from elsewhere.
    private var (own, outside) = (CheckpointTrail(), CheckpointTrail())
    private var dropped = 0

    mutating func beginSegment() { isSegmentSuspicious = false }

    mutating func suspectSomething() {
        isSegmentSuspicious = true
        own.suspectEntry()
        outside.suspectEntry()
    }

    /// - Parameter place: where the entry was recorded if it was moved with its mark.
    mutating func suspect(_ index: Int, recordedAt place: Int?) {
        suspectSomething()
        if case .entries(let entries, let from)? = suspicions.last, entries.upperBound == index,
            index % AuditSegment.size != 0, from.map({ $0 + entries.count }) == place
        {
            suspicions[suspicions.count - 1] = .entries(entries.lowerBound..<index + 1, from: from)
        } else {
            add(.entries(index..<index + 1, from: place))
        }
    }

    /// - Parameter isWhole: whether all its entries could be read.
    mutating func suspect(segment: Int, isWhole: Bool) {
        if isWhole { add(.segment(segment, isExplained: isSegmentSuspicious)) }
        wrongSegments.append(segment)
        suspectSomething()
    }

    private mutating func add(_ suspicion: Suspicion) {
        guard suspicions.count < Self.capacity else { return dropped += 1 }
        suspicions.append(suspicion)
    }

    mutating func prove(_ checkpoint: CheckpointPlan.Stop, isByEntries: Bool) {
        if checkpoint.source == .external {
            outside.prove(checkpoint.size, isByEntries: isByEntries)
        } else {
            own.prove(checkpoint.size, isByEntries: isByEntries)
        }
    }

    /// - Returns: what to tell about a checkpoint that is wrong; nil where something else explains it.
    mutating func refute(_ checkpoint: CheckpointPlan.Stop) -> AuditFault? {
        let refutation = checkpoint.source == .external ? outside.refute(checkpoint) : own.refute(checkpoint)
        if refutation != nil { isSegmentSuspicious = true }
        return refutation.map(Self.rewritten)
    }

    private static func rewritten(_ refutation: CheckpointTrail.Refutation) -> AuditFault {
        .rewritten(refutation.entries, checkpoint: refutation.checkpoint.size, refutation.checkpoint.source)
    }

    // MARK: The judgement

    /// - Parameter size: how many entries the head signs for.
    /// - Returns: the entries before it that no checkpoint proves as they stand, in order: any of them may be wrong, whatever
    ///   else is found.
    func conclude(at size: Int, _ faults: inout FaultList) -> [Range<Int>] {
        let unproved = self.unproved
        for refutation in outside.explained where isContradicted(refutation.checkpoint.size) {
            faults.add(Self.rewritten(refutation))
        }
        for suspicion in suspicions {
            switch suspicion {
            case .entries(let entries, let from): judge(entries, from, unproved, &faults)
            case .segment(let segment, let isExplained): judge(segment, isExplained, unproved, &faults)
            }
        }
        faults.count(dropped)
        return unproved.ranges.map { $0.clamped(to: 0..<size) }.filter { !$0.isEmpty }
    }

    private var unproved: RangeSet<Int> {
        // What a checkpoint from elsewhere proves, none in the log has to. The other way round, the log's key may have been
        // used to sign for something else.
        unproved(
            byEntries: max(own.provedByEntries, outside.provedByEntries), bySegments: max(own.proved, outside.proved),
            until: .max
        ).union(
            unproved(byEntries: outside.provedByEntries, bySegments: outside.proved, until: outside.refuted))
    }

    private func unproved(byEntries: Int, bySegments: Int, until end: Int) -> RangeSet<Int> {
        var ranges = RangeSet<Int>()
        if byEntries < min(bySegments, end) {
            for segment in wrongSegments {
                ranges.insert(
                    contentsOf: AuditSegment.entries(of: segment).clamped(to: byEntries..<min(bySegments, end)))
            }
        }
        if bySegments < end { ranges.insert(contentsOf: bySegments..<end) }
        return ranges
    }

    /// Whether the log's own checkpoints prove what one from elsewhere of this size speaks against: then no wrong entry
    /// explains it.
    private func isContradicted(_ size: Int) -> Bool {
        own.provedByEntries >= size || (own.proved >= size && !wrongSegments.contains(size / AuditSegment.size))
    }

    private func judge(_ segment: Int, _ isExplained: Bool, _ unproved: RangeSet<Int>, _ faults: inout FaultList) {
        let open = unproved.intersection(RangeSet(AuditSegment.entries(of: segment))).ranges
        if open.isEmpty { faults.add(.segmentRoot(segment)) }
        guard !isExplained else { return }
        for entries in open { faults.add(.forged(entries)) }
    }

    private func judge(_ entries: Range<Int>, _ from: Int?, _ unproved: RangeSet<Int>, _ faults: inout FaultList) {
        let all = RangeSet(entries)
        for right in all.subtracting(unproved).ranges { faults.add(.mark(right)) }
        for wrong in all.intersection(unproved).ranges {
            if let from {
                faults.add(.moved(wrong, from: from + wrong.lowerBound - entries.lowerBound))
            } else {
                faults.add(.changed(wrong))
            }
        }
    }
}
