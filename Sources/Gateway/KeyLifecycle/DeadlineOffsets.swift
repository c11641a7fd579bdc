import AuditLog
import SigningKit
import StrictJSON

/// The value of `ClockMonitor.stepped` when each deadline was set. The register stores deadlines in wall clock time
/// only, so a clock step would move them.
struct DeadlineOffsets {
    private struct Name: Hashable {
        /// The key ID of a retirement, or the ID of a proposal.
        let id: String
        let time: Timestamp
    }

    /// In milliseconds.
    private var offsets: [Name: Int64] = [:]

    /// Call it before the deadlines are recorded. Known deadlines keep their offsets.
    mutating func note(_ records: [KeyLifecycleRecord], _ proposals: [KeyProposal], at offset: Int64) {
        for name in Self.names(records, proposals) where offsets[name] == nil { offsets[name] = offset }
    }

    /// Removes all other deadlines.
    mutating func keep(_ records: [KeyLifecycleRecord], _ proposals: [KeyProposal]) {
        let names = Set(Self.names(records, proposals))
        offsets = offsets.filter { names.contains($0.key) }
    }

    func deadline(of record: KeyLifecycleRecord) -> Deadline? { Self.name(of: record).map(deadline) }

    func deadline(of proposal: KeyProposal) -> Deadline { deadline(Self.name(of: proposal)) }

    private func deadline(_ name: Name) -> Deadline { Deadline(time: name.time, stepped: offsets[name]) }

    private static func names(_ records: [KeyLifecycleRecord], _ proposals: [KeyProposal]) -> [Name] {
        records.compactMap(name) + proposals.map(name)
    }

    private static func name(of record: KeyLifecycleRecord) -> Name? {
        record.retireAt.map { Name(id: record.keyID, time: $0) }
    }

    private static func name(of proposal: KeyProposal) -> Name { Name(id: proposal.id, time: proposal.expires) }
}
