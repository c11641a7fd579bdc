import SigningKit
import TransparencyLog

/// Walks along the entries from checkpoint to checkpoint.
///
/// It maintains two trees: one over the entries read, and one over the recorded roots of full segments. A checkpoint
/// that fits the first proves all entries before it. One that fits only the second proves all segments except those
/// whose entries have another root. So one wrong entry does not hide the next.
struct VerificationWalk {
    private let roots: [MerkleHash?]
    private let plan: CheckpointSchedule
    private let stops: [CheckpointSchedule.Stop]
    private let size: Int
    private var faults: FaultList
    private var evidence: VerificationEvidence
    private var result = AuditReport(origin: "")

    private(set) var next = 0
    private var stop = 0
    /// The full segments as read; nil after a read failure.
    private var readTree: AppendOnlyTree? = AppendOnlyTree()
    /// The full segments as recorded; nil once both the root and the entries of a segment are missing.
    private var recordedTree: AppendOnlyTree? = AppendOnlyTree()
    private var segment = AppendOnlyTree()
    private var isSegmentWhole = true
    /// The size of the last valid cosigned checkpoint.
    private var cosigned = 0
    private var witnessed: WitnessedCheckpoint?
    /// When the last entry was written; nil if it cannot be read.
    private var lastTime: Timestamp?
    private var archivedEnd = 0
    private var lastArchived = 0
    private var registers: RegisterComparison

    init(roots: [MerkleHash?], plan: CheckpointSchedule, size: Int, registerEnd: Int, faults: FaultList) {
        registers = RegisterComparison(end: registerEnd)
        self.roots = roots
        self.plan = plan
        stops = plan.inOrder
        evidence = VerificationEvidence(largestExternalSize: plan.largestExternalSize)
        self.size = size
        self.faults = faults
        arrive()
    }

    // MARK: Archived segments

    /// Passes the segments before the first stored entry, by their archived entries or else by their recorded roots.
    mutating func passArchive(before first: Int, _ archive: AuditArchive) throws(AuditStoreError) {
        let count = min(max(first, 0) / AuditSegment.size, roots.count)
        archivedEnd = count * AuditSegment.size
        result.archived = archivedEnd
        for number in 0..<count {
            if let bodies = try archive(number), pass(bodies, of: number) { continue }
            next += AuditSegment.size
            append(roots[number], roots[number])
            arrive()
        }
    }

    private mutating func pass(_ bodies: [[UInt8]], of number: Int) -> Bool {
        let leaves = bodies.map { MerkleHash.leaf($0) }
        let tree = AppendOnlyTree(leaves: leaves)
        guard tree.size == AuditSegment.size, tree.root == roots[number] else {
            let entries = AuditSegment.entries(of: number)
            faults.add(
                entries,
                "The archive's content for \(Sentence.entries(entries, isFirst: false)) is not what was recorded.")
            evidence.note(wrongArchive: number)
            return false
        }
        for (body, leaf) in zip(bodies, leaves) {
            registers.read(body, at: next, isFromStart: false, &faults)
            step(leaf)
        }
        result.archivedChecked += AuditSegment.size
        return true
    }

    // MARK: Entries

    mutating func visit(_ entry: StoredEntry) {
        guard entry.index >= next else {
            let index = entry.index
            return faults.add(index..<index + 1, "Entry \(Sentence.number(index)) exists more than once.")
        }
        if entry.index > next { skip(to: entry.index) }
        if entry.index == size - 1, plan.needsWitnesses { lastTime = EntryFields(entry.body)?.time }
        let leaf = MerkleHash.leaf(entry.body)
        if StoredEntry.mark(of: leaf, at: next) != entry.mark {
            evidence.note(wrongMarkAt: next)
        } else {
            if archivedEnd > 0 { noteArchiving(entry.body) }
            registers.read(entry.body, at: next, isFromStart: archivedEnd == 0, &faults)
        }
        step(leaf)
    }

    /// Skips entries. Their gap in the tree ends with the segment, or never if the segment has no recorded root.
    ///
    /// - Parameter reason: why the entries could not be read; nil if they are missing.
    mutating func skip(to index: Int, because reason: String? = nil) {
        guard index > next else { return }
        // Entries after the log's end are not missing.
        let gap = next..<max(next, min(index, size))
        if !gap.isEmpty {
            let failure = reason.map { "cannot be read: \($0)" }
            faults.add(gap, Sentence.entries(gap, failure ?? "is missing.", failure ?? "are missing."))
        }
        // Once no tree is left, segments need not be closed one by one.
        while next < index, recordedTree != nil {
            isSegmentWhole = false
            let rest = AuditSegment.size - next % AuditSegment.size
            next += min(rest, index - next)
            if next % AuditSegment.size == 0 { closeSegment() }
            arrive()
        }
        next = index
        arrive()
    }

    private mutating func step(_ leaf: MerkleHash) {
        if isSegmentWhole { segment.append(leaf) }
        next += 1
        if next % AuditSegment.size == 0 { closeSegment() }
        arrive()
    }

    /// Reads an `archive` entry. In canonical form, it begins with the member `actor`.
    private mutating func noteArchiving(_ body: [UInt8]) {
        guard body.starts(with: Self.actor), let fields = EntryFields(body), fields.kind == "archive",
            let end = fields.integer("to")
        else { return }
        lastArchived = max(lastArchived, end)
    }

    private static let actor = Array(#"{"actor":"#.utf8)

    /// Compares the registers with the records of the entries and of the head.
    mutating func compare(_ registers: [AuditRegister], seal: String?) {
        self.registers.compare(registers, seal: seal, firstEntry: archivedEnd, size: size, &faults)
    }

    // MARK: Segments and checkpoints

    private mutating func closeSegment() {
        let number = next / AuditSegment.size - 1
        let read = isSegmentWhole && segment.size == AuditSegment.size ? segment.root : nil
        let recorded = number < roots.count ? roots[number] : nil
        if read == nil || (number < roots.count && recorded != read) {
            evidence.note(wrongSegment: number, isWhole: read != nil)
        }
        append(read, recorded ?? read)
        segment = AppendOnlyTree()
        isSegmentWhole = true
    }

    private mutating func append(_ read: MerkleHash?, _ recorded: MerkleHash?) {
        Self.append(read, to: &readTree)
        Self.append(recorded, to: &recordedTree)
    }

    private static func append(_ root: MerkleHash?, to tree: inout AppendOnlyTree?) {
        guard let root, tree?.append(perfectSubtree: root, height: AuditSegment.height) == true else {
            tree = nil
            return
        }
    }

    /// Compares the tree with the checkpoints of the size reached.
    private mutating func arrive() {
        if next == size { result.root = root(over: readTree) }
        while stop < stops.count, stops[stop].size <= next {
            let checkpoint = stops[stop]
            stop += 1
            guard checkpoint.size == next else {
                // The walk passed it: it lies in an archived segment, or among missing entries.
                if checkpoint.size < archivedEnd { skipCheckpoint(checkpoint) }
                continue
            }
            if checkpoint.source == .external { result.externalChecked += 1 } else { result.keptChecked += 1 }
            if checkpoint.root == root(over: readTree) {
                prove(checkpoint, isByEntries: true)
            } else if checkpoint.root == root(over: recordedTree) {
                prove(checkpoint, isByEntries: false)
            } else {
                evidence.note(wrong: checkpoint)
            }
        }
    }

    private mutating func prove(_ checkpoint: CheckpointSchedule.Stop, isByEntries: Bool) {
        evidence.note(checkpoint, isByEntries: isByEntries)
        if checkpoint.isCosigned { cosigned = checkpoint.size }
        if let time = checkpoint.witnessTime { witnessed = WitnessedCheckpoint(size: checkpoint.size, time: time) }
    }

    /// Its archived segment was not supplied, so it proves nothing: a fault if it is the newest external checkpoint.
    private mutating func skipCheckpoint(_ checkpoint: CheckpointSchedule.Stop) {
        result.uncheckable += 1
        if checkpoint.source == .external, checkpoint.size == evidence.largestExternalSize {
            faults.add(
                "The newest checkpoint that was kept elsewhere, of \(Sentence.number(checkpoint.size)) entries, could not "
                    + "be compared: it is among archived entries, and without their files it proves nothing.")
        }
    }

    private func root(over tree: AppendOnlyTree?) -> MerkleHash? {
        guard var tree, isSegmentWhole, tree.append(segment) else { return nil }
        return tree.root
    }

    // MARK: Report

    consuming func report(origin: String, faultLimit: Int) -> AuditReport {
        skip(to: size)
        if lastArchived < archivedEnd {
            let entries = lastArchived..<archivedEnd
            faults.add(
                entries,
                Sentence.entries(entries, "is", "are") + " missing, and the log does not record them as archived.")
        }
        result.cosigned = plan.findUncosigned(after: cosigned, at: size, &faults)
        plan.findUnwitnessed(after: witnessed, at: size, writtenUntil: lastTime, &faults)
        result.witnessed = witnessed
        result.unproved = evidence.conclude(before: max(size, registers.end), &faults)
        result.origin = origin
        result.size = size
        (result.faults, result.faultCount) = faults.inOrder(limit: faultLimit)
        return result
    }
}
