public import TransparencyLog

/// Returns the entries of an archived segment, in order; nil if the archive does not have it.
public typealias AuditArchive = (_ segment: Int) throws(AuditStoreError) -> [[UInt8]]?

/// Verifies a log's entries, marks, segment roots and checkpoints. It reads each entry once and keeps none in memory.
public struct AuditVerifier {
    private let verifiers: [NoteVerifier]
    private let policy: WitnessPolicy?
    private let externals: [ExternalCheckpoints]
    private let archive: AuditArchive
    private let faultLimit: Int

    /// - Parameters:
    ///   - verifiers: the log's key, whose name is the log's origin, and the keys of cosigners.
    ///   - policy: the witnesses that must have cosigned the newest checkpoint; nil to ignore witnesses.
    ///   - externals: external checkpoints, in any order.
    ///   - archive: supplies archived segments.
    ///   - faultLimit: the number of faults to report; all are counted.
    public init(
        _ verifiers: [NoteVerifier], policy: WitnessPolicy? = nil, externals: [ExternalCheckpoints] = [],
        archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil }, faultLimit: Int = 100
    ) {
        self.verifiers = verifiers
        self.policy = policy
        self.externals = externals
        self.archive = archive
        self.faultLimit = faultLimit
    }

    /// The log may grow during verification. Entries after the head that was read are not checked.
    ///
    /// An external checkpoint that agrees with the entries needs no signature check, because nothing depends on it. So
    /// the verifier first checks only the newest one's signatures, and all of them if anything is wrong.
    ///
    /// - Parameter progress: receives the number of entries read so far, and the total.
    /// - Throws: if the store cannot be read at all. Damaged parts are faults.
    public func verify(
        _ reader: any AuditReader, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(AuditStoreError) -> AuditReport {
        var first = try reader.firstIndex()
        let given = externals.filter { $0.count > 0 }
        var verifiesAll = given.isEmpty || !given.allSatisfy { $0.areAll(of: reader.identity.origin) }
        while true {
            let report = try verify(reader, from: first, verifiesAll: verifiesAll, progress)
            let now = try reader.firstIndex()
            // Entries that were archived during the run are not missing: verify again without them.
            guard !report.isIntact, now > first || !verifiesAll else { return report }
            if now == first { verifiesAll = true }
            first = now
        }
    }

    private func verify(
        _ reader: any AuditReader, from first: Int, verifiesAll: Bool, _ progress: (Int, Int) -> Void
    ) throws(AuditStoreError) -> AuditReport {
        var faults = FaultList()
        for sentence in try readOrFault([], &faults, reader.inspect) { faults.add(sentence) }
        // Read the end before the head: in a growing log, the head then covers it.
        let end = max(try reader.storedEnd(), 0)
        let kept = try readOrFault([], &faults, reader.checkpoints)
        // Read the registers before the head: the head then covers the entries that record them.
        let (registers, seal) = try self.registers(reader, &faults)
        let head = try readOrFault(nil, &faults, reader.head)

        var plan = CheckpointSchedule(origin: reader.identity.origin, verifiers: verifiers, policy: policy)
        let size = head.map { plan.add(.head, $0, &faults) ?? max($0.size, 0) } ?? end
        if head == nil, end > 0 {
            faults.add("The log has \(Sentence.number(end)) entries, but no head: no signature covers them.")
        }
        for checkpoint in kept { _ = plan.add(.kept, checkpoint, &faults) }
        for external in externals {
            if verifiesAll {
                try external.read { plan.add(external: $0, &faults) }
            } else {
                plan.add(claimsOf: external, &faults)
            }
        }
        plan.findTruncation(at: size, &faults)
        if end > size {
            faults.add(
                size..<end,
                Sentence.entries(
                    size..<end, "is after the log's end: no signature covers it.",
                    "are after the log's end: no signature covers them."))
        }
        let roots = try segmentRoots(reader, size: size, &faults)

        var walk = VerificationWalk(
            roots: roots.map { MerkleHash(bytes: $0) }, plan: plan, size: size, registerEnd: end,
            faults: faults)
        try walk.passArchive(before: first, archive)
        try read(reader, until: max(end, size), &walk, progress)
        if let registers { walk.compare(registers, seal: seal) }
        return walk.report(origin: reader.identity.origin, faultLimit: faultLimit)
    }

    /// The registers, and the `registers` line of the head that covers them. Reads again if that line changed.
    private func registers(
        _ reader: any AuditReader, _ faults: inout FaultList
    ) throws(AuditStoreError) -> (registers: [AuditRegister]?, seal: String?) {
        var seal = try self.seal(reader)
        while true {
            let registers = try readOrFault(nil, &faults, reader.registers)
            let now = try self.seal(reader)
            if now == seal || registers == nil { return (registers, seal) }
            seal = now
        }
    }

    /// The `registers` line of a valid head, otherwise nil. `verify` reports an invalid head.
    private func seal(_ reader: any AuditReader) throws(AuditStoreError) -> String? {
        var ignored = FaultList()
        guard let head = try readOrFault(nil, &ignored, reader.head) else { return nil }
        let checkpoint = try? Checkpoint(try SignedNote(parsing: head.note), signedByLogWith: verifiers)
        return checkpoint.flatMap(RegistersLine.line)
    }

    private func segmentRoots(
        _ reader: any AuditReader, size: Int, _ faults: inout FaultList
    ) throws(AuditStoreError) -> [[UInt8]] {
        let roots = try readOrFault([], &faults, reader.segmentRoots)
        let expected = size / AuditSegment.size
        if roots.count > expected, let head = try reader.head(), roots.count <= head.size / AuditSegment.size,
            head.size > size
        {
            // These segments closed after the head was read.
            return Array(roots.prefix(expected))
        }
        if roots.count != expected {
            faults.add(
                "The roots of \(Sentence.number(roots.count)) segments are recorded, but the log has "
                    + "\(Sentence.number(expected)) full segments.")
        }
        return roots
    }

    /// Reads all entries. After damage, it continues at the next segment.
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
                // After `maximumAttempts` failures, skip the rest: the store may be unreadable as a whole.
                position = attempts < Self.maximumAttempts && rest < end - reached ? reached + rest : end
                walk.skip(to: position, because: reason)
            }
        }
        progress(end, end)
    }

    private static let maximumAttempts = 1000

    /// The value read; if the store is damaged, adds a fault and returns `fallback`.
    private func readOrFault<Value>(
        _ fallback: Value, _ faults: inout FaultList, _ read: () throws(AuditStoreError) -> Value
    ) throws(AuditStoreError) -> Value {
        do throws(AuditStoreError) {
            return try read()
        } catch .damaged(let sentence) {
            faults.add(sentence)
            return fallback
        }
    }
}
