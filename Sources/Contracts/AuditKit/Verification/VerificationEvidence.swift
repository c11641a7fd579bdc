/// Collects the evidence for and against entries. Only a later checkpoint shows whether an entry or only its mark
/// changed, so `conclude` runs last.
struct VerificationEvidence {
    private enum Mismatch {
        /// Entries of one segment whose marks do not fit; `from` is their recorded start if the marks moved with them.
        case entries(Range<Int>, from: Int?)
        /// A segment that does not fit its root, and whether another fault may explain that.
        case segment(Int, isExplained: Bool)
    }

    /// The number of verification failures kept; further ones are only counted.
    private static let capacity = 10_000

    /// The size of the largest valid external checkpoint, compared or not.
    private let largestExternalSize: Int
    private var mismatches: [Mismatch] = []
    /// In ascending order.
    private var wrongSegments: [Int] = []
    private var wrongArchives: [Int] = []
    private var isSegmentSuspicious = false
    /// The log's own checkpoints, and external ones.
    private var (own, outside) = (SourceProofState(), SourceProofState())
    private var dropped = 0

    init(largestExternalSize: Int) {
        self.largestExternalSize = largestExternalSize
    }

    mutating func beginSegment() { isSegmentSuspicious = false }

    mutating func suspectSomething() {
        isSegmentSuspicious = true
        own.noteMismatch()
        outside.noteMismatch()
    }

    /// - Parameter place: the recorded index, if the entry was moved with its mark.
    mutating func noteMismatch(_ index: Int, recordedAt place: Int?) {
        suspectSomething()
        if case .entries(let entries, let from)? = mismatches.last, entries.upperBound == index,
            index % AuditSegment.size != 0, from.map({ $0 + entries.count }) == place
        {
            mismatches[mismatches.count - 1] = .entries(entries.lowerBound..<index + 1, from: from)
        } else {
            add(.entries(index..<index + 1, from: place))
        }
    }

    /// - Parameter isWhole: whether all entries of the segment could be read.
    mutating func noteMismatch(segment: Int, isWhole: Bool) {
        if isWhole { add(.segment(segment, isExplained: isSegmentSuspicious)) }
        wrongSegments.append(segment)
        suspectSomething()
    }

    mutating func noteMismatch(archive segment: Int) { wrongArchives.append(segment) }

    private mutating func add(_ mismatch: Mismatch) {
        guard mismatches.count < Self.capacity else { return dropped += 1 }
        mismatches.append(mismatch)
    }

    mutating func prove(_ checkpoint: CheckpointSchedule.Stop, isByEntries: Bool) {
        if checkpoint.source == .external {
            outside.prove(checkpoint.size, isByEntries: isByEntries)
        } else {
            own.prove(checkpoint.size, isByEntries: isByEntries)
        }
    }

    /// - Returns: the fault to report; nil if another fault explains the mismatch.
    mutating func noteWrongRoot(_ checkpoint: CheckpointSchedule.Stop) -> AuditFault? {
        let size = checkpoint.size
        guard let entries = checkpoint.source == .external ? outside.noteWrongRoot(size) : own.noteWrongRoot(size)
        else { return nil }
        isSegmentSuspicious = true
        return .rewritten(entries, checkpoint: size, checkpoint.source)
    }

    // MARK: Conclusion

    /// - Parameter end: the index after the last stored entry, whether the head covers it or not.
    /// - Returns: the entries that no checkpoint proves, in order. Any of them may be wrong, with or without a fault.
    func conclude(before end: Int, _ faults: inout FaultList) -> [Range<Int>] {
        for fault in contradictions { faults.add(fault) }
        let unproved = self.unproved
        for mismatch in mismatches {
            switch mismatch {
            case .entries(let entries, let from): judge(entries, from, unproved, &faults)
            case .segment(let segment, let isExplained): judge(segment, isExplained, unproved, &faults)
            }
        }
        faults.count(dropped)
        return unproved.ranges.map { $0.clamped(to: 0..<end) }.filter { !$0.isEmpty }
    }

    private var unproved: RangeSet<Int> {
        // Entries that an external checkpoint proves need no proof by the log's own checkpoints. The converse does not
        // hold: the log's key may have signed another state.
        var all = unproved(
            byEntries: max(own.provedByEntries, outside.provedByEntries), bySegments: max(own.proved, outside.proved),
            until: .max)
        all.formUnion(
            unproved(byEntries: outside.provedByEntries, bySegments: outside.proved, until: largestExternalSize))
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

    /// Cases in which the log's own checkpoints prove what an external one contradicts. No wrong entry explains that.
    /// Of checkpoints that are wrong together, only the first is reported.
    private var contradictions: [AuditFault] {
        var told = Set(outside.refutations.filter(\.isTold).map(\.entries.lowerBound))
        let wrong = Set(wrongSegments)
        return outside.refutations.compactMap { refutation in
            let (begin, size) = (refutation.entries.lowerBound, refutation.entries.upperBound)
            // At a segment boundary the checkpoint covers recorded roots only; elsewhere also entries of one segment.
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
