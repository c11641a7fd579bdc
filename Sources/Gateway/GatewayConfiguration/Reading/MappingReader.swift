import SigningKit

/// Reads a mapping with known keys. An unknown key is a fault, so that a misspelt key does not count as absent.
struct MappingReader {
    let origin: ConfigurationOrigin
    private let entries: [String: SettingNode]
    /// The known keys that are present in a misspelt form.
    private let misspelt: Set<String>
    private let findings: Findings

    /// Nil, with a fault in `findings`, if the node is not a mapping.
    init?(_ node: SettingNode, keys: [String], _ findings: Findings) {
        guard !node.isFaulty else { return nil }
        guard !node.isNull else {
            findings.fault(.noValue(expected: .mapping), at: node.origin)
            return nil
        }
        guard case .mapping(let entries) = node.content else {
            findings.fault(.wrongKind(expected: .mapping, found: node.kind), at: node.origin)
            return nil
        }
        var known: [String: SettingNode] = [:]
        var misspelt: Set<String> = []
        for entry in entries {
            if keys.containsExactly(entry.name) {
                known[entry.name] = entry.value
            } else {
                let suggestion = Suggestion.nearest(to: entry.name, among: keys)
                findings.fault(.unknownKey(known: keys, suggestion: suggestion), at: entry.origin)
                if let suggestion { misspelt.insert(suggestion) }
            }
        }
        self.origin = node.origin
        self.entries = known
        self.misspelt = misspelt
        self.findings = findings
    }

    func optional(_ key: String) -> SettingNode? { entries[key] }

    /// Whether an unknown key resembles this one more than any other.
    func isMisspelt(_ key: String) -> Bool { misspelt.contains(key) }

    func isPresentOrMisspelt(_ key: String) -> Bool { entries[key] != nil || misspelt.contains(key) }

    /// - Parameter what: What to give, with an example, for the error about a missing key.
    func required(_ key: String, _ what: String) -> SettingNode? {
        guard let node = entries[key] else {
            if !misspelt.contains(key) { findings.fault(.missing(what), at: origin.child(key)) }
            return nil
        }
        return node
    }
}
