import AuditKit
import SigningKit

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
