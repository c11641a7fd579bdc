import Encodings

/// Collects the evidence for and against entries. Only a later checkpoint shows whether an entry or only its mark
/// changed, so `conclude` runs last.
struct VerificationEvidence {
    /// What the checkpoints of one source prove.
    private struct Proved {
        /// Checkpoints prove the entries before this index.
        var byEntries = 0
        /// Up to this index, they also prove entries in segments that match their recorded roots.
        var byRoots = 0
        /// Whether a checkpoint since the last one that fits was wrong.
        var isRefuted = false
    }

    /// The size of the largest valid external checkpoint, compared or not.
    let largestExternalSize: Int
    /// The log's own checkpoints, and external ones.
    private var (own, outside) = (Proved(), Proved())
    /// Entries whose marks do not fit, in ascending order.
    private var wrongMarks = RangeSet<Int>()
    /// The first wrong checkpoint after each that fits, with the entries that the latter does not prove.
    private var wrongCheckpoints: [(checkpoint: CheckpointSchedule.Stop, entries: Range<Int>)] = []
    private var dropped = 0
    /// Segments whose entries do not have the recorded root, in ascending order; whether all entries could be read.
    private var wrongSegments: [(number: Int, isWhole: Bool)] = []
    private var wrongArchives: [Int] = []

    init(largestExternalSize: Int) {
        self.largestExternalSize = largestExternalSize
    }

    mutating func note(wrongMarkAt index: Int) {
        guard wrongMarks.ranges.count < FaultList.capacity || wrongMarks.contains(index - 1) else {
            return dropped += 1
        }
        wrongMarks.insert(contentsOf: index..<index + 1)
    }

    mutating func note(wrongSegment number: Int, isWhole: Bool) { wrongSegments.append((number, isWhole)) }

    mutating func note(wrongArchive number: Int) { wrongArchives.append(number) }

    /// - Parameter isByEntries: whether the checkpoint fits the entries, or only the recorded roots.
    mutating func note(_ checkpoint: CheckpointSchedule.Stop, isByEntries: Bool) {
        change(checkpoint) { proved in
            if isByEntries { proved.byEntries = checkpoint.size }
            proved.byRoots = checkpoint.size
            proved.isRefuted = false
        }
    }

    /// Notes a checkpoint that fits neither the entries nor the recorded roots.
    mutating func note(wrong checkpoint: CheckpointSchedule.Stop) {
        let begin = change(checkpoint) { proved -> Int? in
            defer { proved.isRefuted = true }
            return proved.isRefuted ? nil : proved.byRoots < checkpoint.size ? proved.byRoots : 0
        }
        guard let begin else { return }
        guard wrongCheckpoints.count < FaultList.capacity else { return dropped += 1 }
        wrongCheckpoints.append((checkpoint, begin..<checkpoint.size))
    }

    private mutating func change<Result>(
        _ checkpoint: CheckpointSchedule.Stop, _ body: (inout Proved) -> Result
    ) -> Result {
        checkpoint.source == .external ? body(&outside) : body(&own)
    }

    // MARK: Conclusion

    /// - Parameter end: the index after the last stored entry, whether the head covers it or not.
    /// - Returns: the entries that no checkpoint proves, in order. Any of them may be wrong, with or without a fault.
    func conclude(before end: Int, _ faults: inout FaultList) -> [Range<Int>] {
        let unproved = self.unproved
        for entries in wrongMarks.intersection(unproved).ranges {
            faults.add(
                entries,
                Sentence.entries(
                    entries, "is not what was recorded: it was changed or moved.",
                    "are not what was recorded: they were changed or moved."))
        }
        for entries in wrongMarks.subtracting(unproved).ranges {
            let name = Sentence.entries(entries, isFirst: false)
            faults.add(
                entries,
                entries.count == 1
                    ? "The mark of \(name) was changed; the entry itself is correct."
                    : "The marks of \(name) were changed; the entries themselves are correct.")
        }
        faults.count(dropped)
        addCheckpointFaults(&faults)
        addSegmentFaults(unproved, &faults)
        return unproved.ranges.map { $0.clamped(to: 0..<end) }.filter { !$0.isEmpty }
    }

    /// Reports wrong checkpoints. A fault of an entry that one covers explains a checkpoint of the log itself, but not
    /// an external one: with the log's key, an attacker could leave a small fault to hide that the log was rewritten.
    private func addCheckpointFaults(_ faults: inout FaultList) {
        let named = faults.entries
        for (checkpoint, entries) in wrongCheckpoints
        where checkpoint.source == .external || named.intersection(RangeSet(entries)).isEmpty {
            faults.add(
                entries,
                "\(Sentence.entries(entries, "is", "are")) not what the \(checkpoint.source.name) of "
                    + "\(Sentence.number(checkpoint.size)) entries covers.", isGrave: true)
        }
    }

    /// Reports segments with a wrong root, unless another fault names their wrong entries.
    private func addSegmentFaults(_ unproved: RangeSet<Int>, _ faults: inout FaultList) {
        let named = faults.entries
        var unnamed = RangeSet<Int>()
        for (number, isWhole) in wrongSegments where isWhole {
            let segment = AuditSegment.entries(of: number)
            let wrong = unproved.intersection(RangeSet(segment))
            if wrong.isEmpty {
                faults.add(
                    segment,
                    "The root recorded for \(Sentence.entries(segment, isFirst: false)) was changed; the entries "
                        + "themselves are correct.")
            }
            for entries in wrong.ranges where named.intersection(RangeSet(entries)).isEmpty {
                unnamed.insert(contentsOf: entries)
            }
        }
        for entries in unnamed.ranges {
            faults.add(
                entries,
                entries.count == 1
                    ? "\(Sentence.entries(entries)) is not what was recorded."
                    : "At least one of \(Sentence.entries(entries, isFirst: false)) is not what was recorded.")
        }
    }

    private var unproved: RangeSet<Int> {
        // Entries that an external checkpoint proves need no proof by the log's own checkpoints. The converse does not
        // hold: the log's key may have signed another state.
        var all = unproved(
            byEntries: max(own.byEntries, outside.byEntries), byRoots: max(own.byRoots, outside.byRoots), until: .max)
        all.formUnion(unproved(byEntries: outside.byEntries, byRoots: outside.byRoots, until: largestExternalSize))
        for segment in wrongArchives { all.insert(contentsOf: AuditSegment.entries(of: segment)) }
        return all
    }

    private func unproved(byEntries: Int, byRoots: Int, until end: Int) -> RangeSet<Int> {
        var ranges = RangeSet<Int>()
        let limit = min(byRoots, end)
        if byEntries < limit {
            for (number, _) in wrongSegments {
                ranges.insert(contentsOf: AuditSegment.entries(of: number).clamped(to: byEntries..<limit))
            }
        }
        if byRoots < end { ranges.insert(contentsOf: byRoots..<end) }
        return ranges
    }
}

/// Compares the registers with the entries that record them, and with the signed head.
struct RegisterComparison {
    /// The last record of a register in the entries.
    private struct Record {
        let entry: Int
        /// Base64url of SHA-256.
        let digest: String
        /// The state of the register's key; nil if no entry stated it.
        var state: String?

        func isOf(_ register: AuditRegister) -> Bool {
            register.entry == entry
                && digest.utf8.elementsEqual(Base64.url.encode(Array(AuditRegister.digest(of: register.value))))
        }
    }

    private var records: [String: Record] = [:]
    /// From this index on, entries may be newer than the registers that were read.
    let end: Int

    init(end: Int) {
        self.end = end
    }

    /// Entries of registers begin with the member `action` in canonical form.
    private static let action = Array(#"{"action":"#.utf8)

    /// Reads an entry if it records a register.
    ///
    /// - Parameter isFromStart: whether the log has all entries before this one.
    mutating func read(_ body: [UInt8], at index: Int, isFromStart: Bool, _ faults: inout FaultList) {
        guard index < end, body.starts(with: Self.action), let fields = EntryFields(body),
            let name = fields.text("register")
        else { return }
        let before = records[name]
        var record = Record(entry: index, digest: fields.text("digest") ?? "", state: before?.state)
        // If an attacker restores or removes a register, the next change starts from a state that was not the last.
        if fields.text("event") == KeyLifecycleEntry.Event.changed.rawValue, let state = fields.text("to") {
            let isKnown = before?.state != nil || (isFromStart && before == nil)
            if isKnown, fields.text("from") != before?.state { faults.add(Self.changed(name, index)) }
            record.state = state
        }
        records[name] = record
    }

    /// - Parameters:
    ///   - seal: the head's line over all registers; nil if an older version signed the head.
    ///   - firstEntry: the index of the first entry that was read.
    ///   - size: the number of entries that the head covers.
    func compare(
        _ registers: [AuditRegister], seal: String?, firstEntry: Int, size: Int, _ faults: inout FaultList
    ) {
        var (rest, wrong) = (records, [String]())
        for register in registers {
            let record = rest.removeValue(forKey: register.name)
            if end..<max(end, size) ~= register.entry { continue }
            if let record {
                if !record.isOf(register) { wrong.append(Self.changed(register.name, record.entry)) }
            } else if register.entry >= firstEntry {
                wrong.append("No entry records the register \(register.name): another program wrote it.")
            }
        }
        for (name, record) in rest.sorted(by: { $0.key < $1.key }) {
            wrong.append("The register \(name), which entry \(Sentence.number(record.entry)) records, is missing.")
        }
        if let seal, wrong.isEmpty, seal != RegistersLine.line(over: registers) {
            wrong.append(
                "The registers do not match the signed head: one was changed, restored, added or removed. If its entry "
                    + "is archived, the archive shows which.")
        }
        for fault in wrong { faults.add(fault) }
    }

    private static func changed(_ name: String, _ entry: Int) -> String {
        "The register \(name) is not what entry \(Sentence.number(entry)) says: it was changed, or an older value was "
            + "restored."
    }
}
