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

    /// Of the largest checkpoint from elsewhere that can be believed, whether it could be compared or not.
    private let outsideSize: Int
    private var suspicions: [Suspicion] = []
    /// In order.
    private var wrongSegments: [Int] = []
    private var wrongArchives: [Int] = []
    private var isSegmentSuspicious = false
    /// Checkpoints in the log, and those from elsewhere.
    private var (own, outside) = (CheckpointTrail(), CheckpointTrail())
    private var dropped = 0

    init(outsideSize: Int) {
        self.outsideSize = outsideSize
    }

    mutating func beginSegment() { isSegmentSuspicious = false }

    mutating func suspectSomething() {
        isSegmentSuspicious = true
        own.suspect()
        outside.suspect()
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

    mutating func suspect(archive segment: Int) { wrongArchives.append(segment) }

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
        let size = checkpoint.size
        guard let entries = checkpoint.source == .external ? outside.refute(size) : own.refute(size) else { return nil }
        isSegmentSuspicious = true
        return .rewritten(entries, checkpoint: size, checkpoint.source)
    }

    // MARK: The judgement

    /// - Parameter end: behind the last entry, whether the head signs for it or not.
    /// - Returns: the entries that no checkpoint proves as they stand, in order: any of them may be wrong, whatever else is
    ///   found.
    func conclude(before end: Int, _ faults: inout FaultList) -> [Range<Int>] {
        for fault in contradictions { faults.add(fault) }
        let unproved = self.unproved
        for suspicion in suspicions {
            switch suspicion {
            case .entries(let entries, let from): judge(entries, from, unproved, &faults)
            case .segment(let segment, let isExplained): judge(segment, isExplained, unproved, &faults)
            }
        }
        faults.count(dropped)
        return unproved.ranges.map { $0.clamped(to: 0..<end) }.filter { !$0.isEmpty }
    }

    private var unproved: RangeSet<Int> {
        // What a checkpoint from elsewhere proves, none in the log has to. The other way round, the log's key may have been
        // used to sign for something else.
        var all = unproved(
            byEntries: max(own.provedByEntries, outside.provedByEntries), bySegments: max(own.proved, outside.proved),
            until: .max)
        all.formUnion(
            unproved(byEntries: outside.provedByEntries, bySegments: outside.proved, until: outsideSize))
        for segment in wrongArchives { all.insert(contentsOf: AuditSegment.entries(of: segment)) }
        return all
    }

    private func unproved(byEntries: Int, bySegments: Int, until end: Int) -> RangeSet<Int> {
        var ranges = RangeSet<Int>()
        let limit = min(bySegments, end)
        if byEntries < limit {
            for segment in wrongSegments {
                ranges.insert(contentsOf: AuditSegment.entries(of: segment).clamped(to: byEntries..<limit))
            }
        }
        if bySegments < end { ranges.insert(contentsOf: bySegments..<end) }
        return ranges
    }

    /// Where the log's own checkpoints prove what one from elsewhere speaks against: no wrong entry explains that, though there
    /// may be one. The first of those that are wrong together.
    private var contradictions: [AuditFault] {
        var told = Set(outside.refutations.filter(\.isTold).map(\.entries.lowerBound))
        let wrong = Set(wrongSegments)
        return outside.refutations.compactMap { refutation in
            let (begin, size) = (refutation.entries.lowerBound, refutation.entries.upperBound)
            // At the end of a segment it speaks of recorded roots alone; elsewhere of the entries of one segment, too.
            let isWithoutEntries = size % AuditSegment.size == 0 || !wrong.contains(size / AuditSegment.size)
            guard own.provedByEntries >= size || (own.proved >= size && isWithoutEntries), told.insert(begin).inserted
            else { return nil }
            return .rewritten(refutation.entries, checkpoint: size, .external)
        }
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
