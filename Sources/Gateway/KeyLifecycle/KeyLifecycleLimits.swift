import SigningKit
import StrictJSON

/// The limits of the register's content, so that a gateway can read everything in it when it starts.
enum KeyLifecycleLimits {
    /// The length of key IDs and issuer IDs, in bytes.
    static let identifier = 255
    /// In bytes.
    static let reason = 500
    /// In bytes.
    static let uri = 1024

    /// Open proposals of one administrator, and of all together. Each has its own register.
    static let proposalsOfOne = 8
    static let proposals = 64
    static let jobsOfOne = 8
    static let jobs = 64
    /// Keys with a record.
    static let keys = 1024

    /// The evidence of one change: number of names, bytes of a name, bytes of a value, and bytes of all together.
    static let evidenceNames = 64
    static let evidenceName = 64
    static let evidenceValue = 512
    static let evidence = 8192

    /// Changes in the record of a key. The audit log has all changes.
    static let history = 256
    /// The record of a key, in bytes of JSON. Older changes are left out.
    static let record = 192 << 10
    /// One register, in bytes of JSON.
    static let register = 1 << 20

    static func check(_ text: String, _ name: String, atMost limit: Int) throws(KeyLifecycleRefusal) {
        guard !text.isEmpty else { throw KeyLifecycleRefusal("The \(name) is empty.") }
        guard text.utf8.count <= limit else {
            throw KeyLifecycleRefusal("The \(name) has \(text.utf8.count) bytes; at most \(limit) are allowed.")
        }
        try checkCharacters(text, name)
    }

    static func checkCharacters(_ text: String, _ name: String) throws(KeyLifecycleRefusal) {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw KeyLifecycleRefusal("The \(name) holds a control character, such as a line break. Remove it.")
        }
    }

    static func check(evidence: [String: String]) throws(KeyLifecycleRefusal) {
        guard evidence.count <= evidenceNames else {
            throw KeyLifecycleRefusal(
                "The evidence has \(evidence.count) members; at most \(evidenceNames) are allowed.")
        }
        var total = 0
        for (name, value) in evidence {
            try check(name, "name of a member of the evidence", atMost: evidenceName)
            guard value.utf8.count <= evidenceValue else {
                throw KeyLifecycleRefusal(
                    "The member \(name) of the evidence has \(value.utf8.count) bytes; at most \(evidenceValue) are allowed."
                )
            }
            try checkCharacters(value, "member \(name) of the evidence")
            total += name.utf8.count + value.utf8.count
        }
        guard total <= Self.evidence else {
            throw KeyLifecycleRefusal("The evidence has \(total) bytes; at most \(Self.evidence) are allowed.")
        }
    }
}

extension KeyLifecycleRecord {
    /// Removes the oldest changes beyond the limits, but never the first or last. `import` and `generate` go last.
    func limited() -> KeyLifecycleRecord {
        var record = self
        while record.history.count > 2,
            record.history.count > KeyLifecycleLimits.history
                || JSONText.encode(record).count > KeyLifecycleLimits.record
        {
            let rest = record.history.indices.dropFirst().dropLast()
            let oldest = rest.first { ![.import, .generate].contains(record.history[$0].action) } ?? rest.startIndex
            record.history.remove(at: oldest)
            record.omitted += 1
        }
        return record
    }
}
