import Encodings

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
