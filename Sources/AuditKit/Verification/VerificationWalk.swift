import TransparencyLog

/// The way along the entries, from checkpoint to checkpoint.
///
/// It carries two trees: one over what was read, and one that has the recorded root of each full segment in its place. A
/// checkpoint that fits the first proves all entries before it; one that fits only the second proves all segments but those
/// whose entries have another root, so that one wrong entry does not hide the next.
struct VerificationWalk {
    private let roots: [MerkleHash?]
    private let plan: CheckpointPlan
    private let stops: [CheckpointPlan.Stop]
    /// Of the largest checkpoint from elsewhere.
    private let outsideSize: Int
    private let size: Int
    private var faults: FaultList
    private var evidence: VerificationEvidence
    private var result = AuditReport(origin: "")

    /// The entry that comes next.
    private(set) var next = 0
    private var stop = 0
    /// Full segments as they were read; nil once something could not be read.
    private var readTree: GrowingTree? = GrowingTree()
    /// Full segments as they are recorded; nil once neither a root nor the entries are there.
    private var recordedTree: GrowingTree? = GrowingTree()
    /// The segment that `next` is in.
    private var segment = GrowingTree()
    private var isSegmentWhole = true
    /// The size of the last co-signed checkpoint that is right.
    private var cosigned = 0
    private var archivedEnd = 0
    private var lastArchived = 0
    /// What entries said last of each register.
    private var witnesses: [String: RegisterWitness] = [:]
    /// Entries from here on may be younger than the registers that were read.
    private let registerEnd: Int

    init(roots: [MerkleHash?], plan: CheckpointPlan, size: Int, registerEnd: Int, faults: FaultList) {
        self.registerEnd = registerEnd
        self.roots = roots
        self.plan = plan
        stops = plan.inOrder
        outsideSize = plan.outsideSize
        evidence = VerificationEvidence(outsideSize: outsideSize)
        self.size = size
        self.faults = faults
        arrive()
    }

    // MARK: Archived segments

    /// Takes the roots of the segments before the first entry that is left, or their entries where the archive has them.
    mutating func passArchive(before first: Int, _ archive: AuditArchive) throws(AuditStoreError) {
        let count = min(max(first, 0) / AuditSegment.size, roots.count)
        archivedEnd = count * AuditSegment.size
        result.archived = archivedEnd
        for number in 0..<count {
            if let bodies = try archive(number), pass(bodies, of: number) { continue }
            next += AuditSegment.size
            if let root = roots[number] {
                append(root, root)
            } else {
                isSegmentWhole = false
                append(nil, nil)
            }
            arrive()
        }
    }

    private mutating func pass(_ bodies: [[UInt8]], of number: Int) -> Bool {
        let leaves = bodies.map { MerkleHash.leaf($0) }
        var tree = GrowingTree()
        for leaf in leaves { tree.append(leaf) }
        guard tree.size == AuditSegment.size, tree.root == roots[number] else {
            faults.add(.archive(segment: number))
            evidence.suspect(archive: number)
            return false
        }
        for (body, leaf) in zip(bodies, leaves) {
            noteRegister(body)
            step(leaf)
        }
        result.archivedChecked += AuditSegment.size
        return true
    }

    // MARK: Entries

    mutating func visit(_ entry: StoredEntry) {
        guard entry.index >= next else { return faults.add(.repeated(entry.index)) }
        if entry.index > next { skip(to: entry.index) }
        let leaf = MerkleHash.leaf(entry.body)
        if StoredEntry.mark(of: leaf, at: next) != entry.mark {
            let place = leaf.prefix ^ entry.mark
            evidence.suspect(next, recordedAt: place < UInt64(size) ? Int(place) : nil)
        } else {
            if archivedEnd > 0 { noteArchiving(entry.body) }
            noteRegister(entry.body)
        }
        step(leaf)
    }

    /// What is not there leaves a gap in the tree, up to the end of its segment or, without a recorded root, for good.
    ///
    /// - Parameter reason: why it could not be read; nil when it is missing.
    mutating func skip(to index: Int, because reason: String? = nil) {
        guard index > next else { return }
        // Behind the log's end nothing is missing.
        let gap = next..<max(next, min(index, size))
        if !gap.isEmpty { faults.add(reason.map { .unreadable(gap, $0) } ?? .missing(gap)) }
        // Without any tree there is nothing to carry from segment to segment.
        while next < index, recordedTree != nil {
            isSegmentWhole = false
            evidence.suspectSomething()
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

    /// The log's own account of what was archived begins with who did it.
    private mutating func noteArchiving(_ body: [UInt8]) {
        guard body.starts(with: Self.actor), let fields = EntryFields(body), fields.kind == "archive",
            let end = fields.integer("to")
        else { return }
        lastArchived = max(lastArchived, end)
    }

    /// The entries that tell of a register begin with what was done to it.
    private mutating func noteRegister(_ body: [UInt8]) {
        guard next < registerEnd, body.starts(with: Self.action), let fields = EntryFields(body),
            let name = fields.text("register")
        else {
            return
        }
        let before = witnesses[name]
        var witness = RegisterWitness(entry: next, digest: fields.text("digest") ?? "", state: before?.state)
        // Who puts an older register back, or takes one out, makes the next change go on from a state that was not the last.
        if fields.text("event") == LifeRecord.Event.changed.rawValue, let state = fields.text("to") {
            let isKnown = before?.state != nil || (archivedEnd == 0 && before == nil)
            if isKnown, fields.text("from") != before?.state { faults.add(.register(name, next)) }
            witness.state = state
        }
        witnesses[name] = witness
    }

    /// Compares what is registered with what the entries and the head say of it.
    mutating func compare(_ registers: [AuditRegister], seal: String?) {
        var wrong: [AuditFault] = []
        for register in registers {
            let witness = witnesses.removeValue(forKey: register.name)
            if registerEnd..<max(registerEnd, size) ~= register.entry { continue }
            if let witness {
                if !witness.isOf(register) { wrong.append(.register(register.name, witness.entry)) }
            } else if register.entry >= archivedEnd {
                wrong.append(.register(register.name, nil))
            }
        }
        for (name, witness) in witnesses.sorted(by: { $0.key < $1.key }) {
            wrong.append(.registerMissing(name, witness.entry))
        }
        if let seal, wrong.isEmpty, seal != RegisterSeal.line(over: registers) { wrong.append(.registers) }
        for fault in wrong { faults.add(fault) }
    }

    private static let action = Array(#"{"action":"#.utf8)
    private static let actor = Array(#"{"actor":"#.utf8)

    // MARK: Segments and checkpoints

    private mutating func closeSegment() {
        let number = next / AuditSegment.size - 1
        let read = isSegmentWhole && segment.size == AuditSegment.size ? segment.root : nil
        let recorded = number < roots.count ? roots[number] : nil
        if read == nil || (number < roots.count && recorded != read) {
            evidence.suspect(segment: number, isWhole: read != nil)
        }
        append(read, recorded ?? read)
        evidence.beginSegment()
        segment = GrowingTree()
        isSegmentWhole = true
    }

    private mutating func append(_ read: MerkleHash?, _ recorded: MerkleHash?) {
        Self.append(read, to: &readTree)
        Self.append(recorded, to: &recordedTree)
    }

    private static func append(_ root: MerkleHash?, to tree: inout GrowingTree?) {
        guard let root, tree?.append(perfectSubtree: root, height: AuditSegment.height) == true else {
            tree = nil
            return
        }
    }

    /// Compares with the checkpoints of the size that has been reached.
    private mutating func arrive() {
        if next == size { result.root = root(over: readTree) }
        while stop < stops.count, stops[stop].size <= next {
            let checkpoint = stops[stop]
            stop += 1
            guard checkpoint.size == next else {
                // Passed by: in an archived segment, or among entries that are missing.
                if checkpoint.size < archivedEnd { passOver(checkpoint) }
                continue
            }
            if checkpoint.source == .external { result.externalChecked += 1 } else { result.keptChecked += 1 }
            if checkpoint.root == root(over: readTree) {
                prove(checkpoint, isByEntries: true)
            } else if checkpoint.root == root(over: recordedTree) {
                prove(checkpoint, isByEntries: false)
            } else if let fault = evidence.refute(checkpoint) {
                faults.add(fault)
            }
        }
    }

    private mutating func prove(_ checkpoint: CheckpointPlan.Stop, isByEntries: Bool) {
        evidence.prove(checkpoint, isByEntries: isByEntries)
        if checkpoint.isCosigned { cosigned = checkpoint.size }
    }

    /// In an archived segment that was not given, so that it proves nothing. Of those from elsewhere the newest has to.
    private mutating func passOver(_ checkpoint: CheckpointPlan.Stop) {
        result.uncheckable += 1
        if checkpoint.source == .external, checkpoint.size == outsideSize {
            faults.add(.uncompared(checkpoint: checkpoint.size))
        }
    }

    private func root(over tree: GrowingTree?) -> MerkleHash? {
        guard var tree, isSegmentWhole, tree.append(segment) else { return nil }
        return tree.root
    }

    // MARK: The end

    consuming func report(origin: String, faultLimit: Int) -> AuditReport {
        skip(to: size)
        if lastArchived < archivedEnd { faults.add(.unarchived(lastArchived..<archivedEnd)) }
        result.cosigned = plan.findUncosigned(after: cosigned, at: size, &faults)
        result.unproved = evidence.conclude(before: max(size, registerEnd), &faults)
        result.origin = origin
        result.size = size
        (result.faults, result.faultCount) = faults.inOrder(limit: faultLimit)
        return result
    }
}
