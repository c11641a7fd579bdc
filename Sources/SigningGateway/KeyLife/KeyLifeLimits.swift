import SigningKit
import StrictJSON

/// The limits of what the register holds: a gateway must be able to read at its start all that was written.
enum KeyLifeLimits {
    /// Key IDs and issuer IDs, in bytes.
    static let identifier = 255
    /// In bytes.
    static let reason = 500
    /// In bytes.
    static let uri = 1024

    /// Of one administrator, and of all together. Each proposal has a register of its own.
    static let proposalsOfOne = 8
    static let proposals = 64
    static let jobsOfOne = 8
    static let jobs = 64
    /// Keys with a record.
    static let keys = 1024

    /// Of one change: names, bytes of a name, of a value, and of all together.
    static let evidenceNames = 64
    static let evidenceName = 64
    static let evidenceValue = 512
    static let evidence = 8192

    /// Changes of a key that its record keeps; the audit log has all of them.
    static let history = 256
    /// Of the record of a key, in bytes of JSON; older changes go.
    static let record = 192 << 10
    /// Of one register, in bytes of JSON.
    static let register = 1 << 20

    static func check(_ text: String, _ name: String, atMost limit: Int) throws(KeyLifeRefusal) {
        guard !text.isEmpty else { throw KeyLifeRefusal("The \(name) is empty.") }
        guard text.utf8.count <= limit else {
            throw KeyLifeRefusal("The \(name) has \(text.utf8.count) bytes; at most \(limit) are allowed.")
        }
        try checkCharacters(text, name)
    }

    static func checkCharacters(_ text: String, _ name: String) throws(KeyLifeRefusal) {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw KeyLifeRefusal("The \(name) holds a control character, such as a line break. Remove it.")
        }
    }

    static func check(evidence: [String: String]) throws(KeyLifeRefusal) {
        guard evidence.count <= evidenceNames else {
            throw KeyLifeRefusal("The evidence has \(evidence.count) members; at most \(evidenceNames) are allowed.")
        }
        var total = 0
        for (name, value) in evidence {
            try check(name, "name of a member of the evidence", atMost: evidenceName)
            guard value.utf8.count <= evidenceValue else {
                throw KeyLifeRefusal(
                    "The member \(name) of the evidence has \(value.utf8.count) bytes; at most \(evidenceValue) are allowed."
                )
            }
            try checkCharacters(value, "member \(name) of the evidence")
            total += name.utf8.count + value.utf8.count
        }
        guard total <= Self.evidence else {
            throw KeyLifeRefusal("The evidence has \(total) bytes; at most \(Self.evidence) are allowed.")
        }
    }
}

extension KeyCeremonyEnd {
    /// The same with as much of each value as the register takes, for reasons that a library or a token gave.
    public func shortened() -> KeyCeremonyEnd {
        var end = self
        end.evidence = evidence.mapValues { value in
            var scalars = String.UnicodeScalarView()
            var count = 0
            for scalar in value.unicodeScalars {
                let scalar = scalar.properties.generalCategory == .control ? " " : scalar
                count += Character(scalar).utf8.count
                guard count <= KeyLifeLimits.evidenceValue else { break }
                scalars.append(scalar)
            }
            return String(scalars)
        }
        return end
    }
}

extension KeyLifeRecord {
    /// Leaves out as many changes as the limits want: the first one stays, and how the key came in as long as anything else can go.
    func limited() -> KeyLifeRecord {
        var record = self
        while record.history.count > 2,
            record.history.count > KeyLifeLimits.history
                || record.jsonBytes(capacity: 4096).count > KeyLifeLimits.record
        {
            let rest = record.history.indices.dropFirst().dropLast()
            let oldest = rest.first { ![.import, .generate].contains(record.history[$0].action) } ?? rest.startIndex
            record.history.remove(at: oldest)
            record.omitted += 1
        }
        return record
    }
}
