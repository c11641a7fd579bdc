import AuditKit
import SigningKit

/// The rows of the index for one segment.
struct SegmentSummary {
    struct Value: Hashable, Comparable {
        let field: Int
        let hash: Int
        let position: Int

        static func < (one: Value, other: Value) -> Bool {
            (one.field, one.hash, one.position) < (other.field, other.hash, other.position)
        }
    }

    /// Milliseconds since the start of 1970; `earliest` is after `latest` if no entry has a time.
    private(set) var earliest = Int64.max
    private(set) var latest = Int64.min
    private(set) var values: Set<Value> = []
    private(set) var tallies: [TallyKey: Int] = [:]

    mutating func add(_ entry: StoredEntry) {
        guard let fields = EntryFields(entry.body) else { return }
        for field in AuditTerm.allCases {
            for value in fields.values(of: field) {
                values.insert(
                    Value(
                        field: field.number, hash: AuditTerm.hash(value), position: entry.index % AuditSegment.size))
            }
        }
        guard let time = fields.time else { return }
        earliest = min(earliest, time.milliseconds)
        latest = max(latest, time.milliseconds)
        for (key, count) in TallyKey.counts(of: fields, at: time) { tallies[key, default: 0] &+= count }
    }
}

/// The values by which signatures and refusals are counted.
struct TallyKey: Hashable {
    /// Hours since the start of 1970.
    let hour: Int
    let client: ExactText?
    let feature: ExactText?
    let key: ExactText?
    let outcome: ExactText

    static let millisecondsPerHour: Int64 = 3_600_000
    /// The hours of the years 0 to 9999, which the time of an entry can have.
    static let hours = -17_268_672...70_389_527

    /// The counts in an entry: one for a signature or a refusal, several for an entry that counts refusals.
    static func counts(of fields: EntryFields) -> [(key: TallyKey, count: Int)] {
        fields.time.map { counts(of: fields, at: $0) } ?? []
    }

    /// - Parameter time: the time of the entry.
    static func counts(of fields: EntryFields, at time: Timestamp) -> [(key: TallyKey, count: Int)] {
        outcomes(of: fields).map { outcome, count in
            func first(_ field: AuditTerm) -> ExactText? { fields.values(of: field).first.map { ExactText($0) } }
            let key = TallyKey(
                hour: Int(time.milliseconds / millisecondsPerHour), client: first(.client), feature: first(.feature),
                key: first(.key), outcome: ExactText(outcome))
            return (key, max(0, count))
        }
    }

    private static func outcomes(of fields: EntryFields) -> [(String, Int)] {
        switch fields.kind {
        case "signature", "refusal": fields.values(of: .outcome).map { ($0, 1) }
        case "refusals": fields.numbers("counts").map { ($0.name, $0.number) }
        default: []
        }
    }

    /// The fields of a key. The counts cannot answer a query for another field.
    static let fields: Set<AuditTerm> = [.client, .feature, .key, .outcome]

    /// - Parameter terms: values of `fields`.
    func has(_ terms: [AuditTerm: String]) -> Bool {
        let own: [AuditTerm: ExactText?] = [.client: client, .feature: feature, .key: key, .outcome: outcome]
        return terms.allSatisfy { own[$0.key] == ExactText($0.value) }
    }

    func tally(_ count: Int) -> AuditTally {
        AuditTally(
            begin: Timestamp(milliseconds: Int64(hour) * Self.millisecondsPerHour),
            client: client?.text, feature: feature?.text, key: key?.text, outcome: outcome.text, count: count)
    }
}
