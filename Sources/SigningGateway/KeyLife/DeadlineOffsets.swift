import SigningKit

/// How far the wall clock was from the monotonic clock when each deadline was set. The register has only the wall clock's time
/// of a deadline, so a step of the clock would move it.
struct DeadlineOffsets {
    private struct Name: Hashable {
        /// Of a retirement the key ID, of a proposal its ID.
        let id: String
        let time: Timestamp
    }

    /// In milliseconds.
    private var offsets: [Name: Int64] = [:]

    /// Before the deadlines of the records and proposals are recorded. Those that are known already keep their offsets.
    mutating func note(_ records: [KeyLifeRecord], _ proposals: [KeyProposal], at offset: Int64) {
        for name in Self.names(records, proposals) where offsets[name] == nil { offsets[name] = offset }
    }

    /// Forgets all deadlines but these.
    mutating func keep(_ records: [KeyLifeRecord], _ proposals: [KeyProposal]) {
        let names = Set(Self.names(records, proposals))
        offsets = offsets.filter { names.contains($0.key) }
    }

    func deadline(of record: KeyLifeRecord) -> Deadline? { Self.name(of: record).map(deadline) }

    func deadline(of proposal: KeyProposal) -> Deadline { deadline(Self.name(of: proposal)) }

    private func deadline(_ name: Name) -> Deadline { Deadline(time: name.time, stepped: offsets[name]) }

    private static func names(_ records: [KeyLifeRecord], _ proposals: [KeyProposal]) -> [Name] {
        records.compactMap(name) + proposals.map(name)
    }

    private static func name(of record: KeyLifeRecord) -> Name? {
        record.retireAt.map { Name(id: record.keyID, time: $0) }
    }

    private static func name(of proposal: KeyProposal) -> Name { Name(id: proposal.id, time: proposal.expires) }
}
