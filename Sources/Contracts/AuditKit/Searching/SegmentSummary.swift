import SigningKit

/// The content of a search index for one segment.
package struct SegmentSummary {
    /// Milliseconds since the start of 1970; `earliest` is after `latest` if no entry has a time.
    package private(set) var earliest = Int64.max
    package private(set) var latest = Int64.min
    /// One for each value of a field; an entry may name a value twice.
    package private(set) var values: [(field: Int, hash: Int, position: Int)] = []
    package private(set) var tallies: [TallyKey: Int] = [:]

    package init() {}

    package mutating func add(_ entry: StoredEntry) {
        guard let fields = EntryFields(entry.body) else { return }
        for field in AuditTerm.allCases {
            for value in fields.values(of: field) {
                values.append((field.number, AuditTerm.hash(value), entry.index % AuditSegment.size))
            }
        }
        guard let time = fields.time else { return }
        earliest = min(earliest, time.milliseconds)
        latest = max(latest, time.milliseconds)
        for (key, count) in TallyKey.counts(of: fields) { tallies.add(count, to: key) }
    }
}

extension AuditTerm {
    /// The number of the field in an index. A new order needs a new version of every index.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    /// FNV-1a with 32 bits, of the UTF-8 bytes. A search reads the entry, so two values may have one hash.
    package static func hash(_ value: String) -> Int {
        var hash: UInt32 = 0x811c_9dc5
        for byte in value.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(hash)
    }
}
