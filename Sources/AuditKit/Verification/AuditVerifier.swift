public import TransparencyLog

/// Checks a log against what was signed: each entry, their marks, the roots of segments and every checkpoint. Reads all
/// entries once, and keeps none.
public struct AuditVerifier {
    private let verifiers: [NoteVerifier]
    private let externals: [ExternalCheckpoints]
    private let archive: AuditArchive
    private let faultLimit: Int

    /// - Parameters:
    ///   - verifiers: the log's key, whose name is its origin, and those of co-signers.
    ///   - externals: checkpoints from second places, in any order.
    ///   - archive: where archived segments can be had.
    ///   - faultLimit: how many faults are told; all are counted.
    public init(
        _ verifiers: [NoteVerifier], externals: [ExternalCheckpoints] = [],
        archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil }, faultLimit: Int = 100
    ) {
        self.verifiers = verifiers
        self.externals = externals
        self.archive = archive
        self.faultLimit = faultLimit
    }

    /// The log may grow meanwhile: what comes after the head that was read is not looked at.
    ///
    /// A checkpoint from a second place that says the same as the entries needs no signature: nothing rests on it. So only
    /// the newest one's are verified at first, and those of all when anything is wrong.
    ///
    /// - Parameter progress: is told how many entries have been read, of how many.
    /// - Throws: when the store cannot be read at all. Damaged parts of it are faults.
    public func verify(
        _ reader: any AuditReader, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(AuditStoreError) -> AuditReport {
        var first = try reader.firstIndex()
        let given = externals.filter { $0.count > 0 }
        var verifiesAll = given.isEmpty || !given.allSatisfy { $0.areAll(of: reader.identity.origin) }
        while true {
            let report = try verify(reader, from: first, verifiesAll: verifiesAll, progress)
            let now = try reader.firstIndex()
            // Entries that were archived under way are not missing: the log is read again without them.
            guard !report.isIntact, now > first || !verifiesAll else { return report }
            if now == first { verifiesAll = true }
            first = now
        }
    }

    private func verify(
        _ reader: any AuditReader, from first: Int, verifiesAll: Bool, _ progress: (Int, Int) -> Void
    ) throws(AuditStoreError) -> AuditReport {
        var faults = FaultList()
        for sentence in try salvage([], &faults, { () throws(AuditStoreError) in try reader.inspect() }) {
            faults.add(.store(sentence))
        }
        // Before the head, so that in a log that grows it covers them.
        let end = max(try reader.storedEnd(), 0)
        let kept = try salvage([], &faults) { () throws(AuditStoreError) in try reader.checkpoints() }
        // Before the head, so that it covers the entries that tell of them.
        let (registers, seal) = try self.registers(reader, &faults)
        let head = try salvage(nil, &faults) { () throws(AuditStoreError) in try reader.head() }

        var plan = CheckpointPlan(origin: reader.identity.origin, verifiers: verifiers)
        let size = head.map { plan.add(head: $0, &faults) } ?? end
        if head == nil, end > 0 { faults.add(.headless(entries: end)) }
        for checkpoint in kept { plan.add(kept: checkpoint, &faults) }
        for external in externals {
            if verifiesAll {
                try external.read { plan.add(external: $0, &faults) }
            } else {
                plan.add(claimsOf: external, &faults)
            }
        }
        plan.findTruncation(at: size, &faults)
        if end > size { faults.add(.surplus(size..<end)) }
        let roots = try segmentRoots(reader, size: size, &faults)

        var walk = VerificationWalk(
            roots: roots.map { MerkleHash(bytes: $0) }, plan: plan, size: size, registerEnd: end,
            faults: faults)
        try walk.passArchive(before: first, archive)
        try read(reader, until: max(end, size), &walk, progress)
        if let registers { walk.compare(registers, seal: seal) }
        return walk.report(origin: reader.identity.origin, faultLimit: faultLimit)
    }

    /// The registers, and the seal of a head that was signed for them: none was changed while they were read.
    private func registers(
        _ reader: any AuditReader, _ faults: inout FaultList
    ) throws(AuditStoreError) -> (registers: [AuditRegister]?, seal: String?) {
        var seal = try self.seal(reader)
        while true {
            let registers = try salvage(nil, &faults) { () throws(AuditStoreError) in try reader.registers() }
            let now = try self.seal(reader)
            if now == seal || registers == nil { return (registers, seal) }
            seal = now
        }
    }

    /// Nil without a head that can be believed, which is told where the head is looked at.
    private func seal(_ reader: any AuditReader) throws(AuditStoreError) -> String? {
        var ignored = FaultList()
        guard let head = try salvage(nil, &ignored, { () throws(AuditStoreError) in try reader.head() }) else {
            return nil
        }
        let checkpoint = try? Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: verifiers)
        return checkpoint.flatMap(RegisterSeal.line)
    }

    private func segmentRoots(
        _ reader: any AuditReader, size: Int, _ faults: inout FaultList
    ) throws(AuditStoreError) -> [[UInt8]] {
        let roots = try salvage([], &faults) { () throws(AuditStoreError) in try reader.segmentRoots() }
        let expected = size / AuditSegment.size
        if roots.count > expected, let head = try reader.head(), roots.count <= head.size / AuditSegment.size,
            head.size > size
        {
            // They were closed since the head was read.
            return Array(roots.prefix(expected))
        }
        if roots.count != expected { faults.add(.segmentCount(roots.count, expected: expected)) }
        return roots
    }

    /// Reads all entries. Where the store is damaged, it goes on with the next segment.
    private func read(
        _ reader: any AuditReader, until end: Int, _ walk: inout VerificationWalk, _ progress: (Int, Int) -> Void
    ) throws(AuditStoreError) {
        var attempts = 0
        var position = walk.next
        while position < end {
            do throws(AuditStoreError) {
                try reader.entries(in: position..<end) { (entry) throws(AuditStoreError) in
                    walk.visit(entry)
                    if entry.index % AuditSegment.size == 0 { progress(entry.index, end) }
                    return true
                }
                break
            } catch .damaged(let reason) {
                attempts += 1
                let reached = max(walk.next, position)
                let rest = AuditSegment.size - reached % AuditSegment.size
                // A store of which nothing can be read any more is not asked for each segment.
                position = attempts < Self.maximumAttempts && rest < end - reached ? reached + rest : end
                walk.skip(to: position, because: reason)
            }
        }
        progress(end, end)
    }

    private static let maximumAttempts = 1000

    /// What can be read, or else a fault and something in its place.
    private func salvage<Value>(
        _ fallback: Value, _ faults: inout FaultList, _ read: () throws(AuditStoreError) -> Value
    ) throws(AuditStoreError) -> Value {
        do throws(AuditStoreError) {
            return try read()
        } catch .damaged(let sentence) {
            faults.add(.store(sentence))
            return fallback
        }
    }
}
