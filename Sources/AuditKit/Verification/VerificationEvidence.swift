/// What speaks against entries, and what for them. Which of a changed mark and a changed entry it is can be said only when a
/// later checkpoint has proved the entry, so the judgement comes last.
struct VerificationEvidence {
    private enum Suspicion {
        /// Entries of one segment that do not fit their marks; with where the first was recorded if they were moved with them.
        case entries(Range<Int>, from: Int?)
        /// The segment does not fit its root; with those of its entries that no checkpoint proved before, unless something
        /// else explains it.
        case segment(Int, unproved: Range<Int>?)
    }

    /// What the checkpoints of one kind said last.
    private struct Trail {
        /// The size of the last that was right.
        var proved = 0
        /// Whether something since then speaks against an entry, and so explains a checkpoint that is wrong.
        var isSuspicious = false
    }

    /// More are not told apart.
    private static let capacity = 10_000

    private var suspicions: [Suspicion] = []
    private var wrongSegments: Set<Int> = []
    private var isSegmentSuspicious = false
    private var own = Trail()
    private var outside = Trail()
    /// Entries before it are what the checkpoints cover.
    private var provedByEntries = 0
    /// Those before it too, in segments that fit their recorded roots.
    private var provedBySegments = 0
    private var dropped = 0

    mutating func beginSegment() { isSegmentSuspicious = false }

    mutating func suspectSomething() {
        isSegmentSuspicious = true
        own.isSuspicious = true
        outside.isSuspicious = true
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
        let entries = AuditSegment.entries(of: segment)
        let unproved = entries.clamped(to: max(own.proved, outside.proved)..<entries.upperBound)
        if isWhole { add(.segment(segment, unproved: isSegmentSuspicious ? nil : unproved)) }
        wrongSegments.insert(segment)
        suspectSomething()
    }

    private mutating func add(_ suspicion: Suspicion) {
        guard suspicions.count < Self.capacity else { return dropped += 1 }
        suspicions.append(suspicion)
    }

    mutating func prove(_ checkpoint: CheckpointPlan.Stop, isByEntries: Bool) {
        let trail = Trail(proved: checkpoint.size, isSuspicious: false)
        if checkpoint.source == .external { outside = trail } else { own = trail }
        if isByEntries { provedByEntries = checkpoint.size }
        provedBySegments = checkpoint.size
    }

    /// - Returns: what to tell about a checkpoint that is wrong; nil where something else explains it.
    mutating func refute(_ checkpoint: CheckpointPlan.Stop) -> AuditFault? {
        let trail = checkpoint.source == .external ? outside : own
        if checkpoint.source == .external { outside.isSuspicious = true } else { own.isSuspicious = true }
        guard !trail.isSuspicious else { return nil }
        isSegmentSuspicious = true
        let begin = trail.proved < checkpoint.size ? trail.proved : 0
        return .rewritten(begin..<checkpoint.size, checkpoint: checkpoint.size, checkpoint.source)
    }

    func conclude(_ faults: inout FaultList) {
        for suspicion in suspicions {
            switch suspicion {
            case .entries(let entries, let from): judge(entries, from, &faults)
            case .segment(let segment, let unproved):
                if AuditSegment.entries(of: segment).upperBound <= provedByEntries {
                    faults.add(.segmentRoot(segment))
                } else if let unproved {
                    faults.add(.forged(unproved))
                }
            }
        }
        faults.count(dropped)
    }

    private func judge(_ entries: Range<Int>, _ from: Int?, _ faults: inout FaultList) {
        let isFit = !wrongSegments.contains(entries.lowerBound / AuditSegment.size)
        let proved = max(provedByEntries, isFit ? provedBySegments : 0)
        let right = entries.clamped(to: 0..<proved)
        let wrong = entries.clamped(to: proved..<max(proved, entries.upperBound))
        if !right.isEmpty { faults.add(.mark(right)) }
        guard !wrong.isEmpty else { return }
        if let from {
            faults.add(.moved(wrong, from: from + wrong.lowerBound - entries.lowerBound))
        } else {
            faults.add(.changed(wrong))
        }
    }
}
