import AuditKit
import SigningKit

/// What is counted together.
struct TallyKey: Hashable {
    /// Since the start of 1970.
    let hour: Int
    let client: IndexedTerm?
    let feature: IndexedTerm?
    let key: IndexedTerm?
    let outcome: IndexedTerm

    static let millisecondsPerHour: Int64 = 3_600_000
    /// Those of the years 0 to 9999, which a time of an entry can have.
    static let hours = -17_268_672...70_389_527

    /// The counts in an entry: one for a signature and a refusal, several where refusals were counted together.
    static func counts(of fields: EntryFields) -> [(key: TallyKey, count: Int)] {
        fields.time.map { counts(of: fields, at: $0) } ?? []
    }

    /// - Parameter time: that of the entry.
    static func counts(of fields: EntryFields, at time: Timestamp) -> [(key: TallyKey, count: Int)] {
        outcomes(of: fields).map { outcome, count in (TallyKey(fields, at: time, outcome), max(0, count)) }
    }

    static func hour(of time: Timestamp) -> Int { Int(time.milliseconds / millisecondsPerHour) }

    private static func outcomes(of fields: EntryFields) -> [(String, Int)] {
        switch fields.kind {
        case "signature", "refusal": fields.values(of: .outcome).map { ($0, 1) }
        case "refusals": fields.numbers("counts").map { ($0.name, $0.number) }
        default: []
        }
    }

    init(hour: Int, client: IndexedTerm?, feature: IndexedTerm?, key: IndexedTerm?, outcome: IndexedTerm) {
        self.hour = hour
        self.client = client
        self.feature = feature
        self.key = key
        self.outcome = outcome
    }

    private init(_ fields: EntryFields, at time: Timestamp, _ outcome: String) {
        func first(_ field: AuditTerm) -> IndexedTerm? {
            fields.values(of: field).first.map { IndexedTerm(field, $0) }
        }
        self.init(
            hour: Self.hour(of: time), client: first(.client), feature: first(.feature),
            key: first(.key), outcome: IndexedTerm(.outcome, outcome))
    }

    /// The fields that are kept apart here: a query of others cannot be answered from counts.
    static let fields: Set<AuditTerm> = [.client, .feature, .key, .outcome]

    /// Whether what is counted here has the terms, which are of these fields.
    func has(_ terms: [AuditTerm: String]) -> Bool {
        let own = [client, feature, key, outcome].compactMap(\.self)
        return terms.allSatisfy { own.contains(IndexedTerm($0.key, $0.value)) }
    }

    func tally(_ count: Int) -> AuditTally {
        AuditTally(
            begin: Timestamp(milliseconds: Int64(hour) * Self.millisecondsPerHour),
            client: client?.text, feature: feature?.text, key: key?.text, outcome: outcome.text, count: count)
    }
}
