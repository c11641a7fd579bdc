import SigningKit

/// Reads a mapping with known keys. An unknown key is a fault, so that a misspelt key does not count as absent.
struct MappingReader {
    private(set) var given: GivenSettings
    private let entries: [String: SettingNode]
    private let findings: Findings

    /// Nil, with a fault in `findings`, if the node is not a mapping.
    init?<Section>(_ node: SettingNode, _ settings: [Setting<Section>], _ findings: Findings) {
        self.init(node, keys: settings.filter(\.isKey).map(\.name), findings)
    }

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
        given = GivenSettings(origin: node.origin, origins: known.mapValues(\.origin), misspelt: misspelt)
        self.entries = known
        self.findings = findings
    }

    /// Reads the values of the rows that have a reader, and reports missing ones.
    mutating func read<Section>(_ settings: [Setting<Section>], into section: inout Section) {
        for setting in settings {
            if let node = entries[setting.name] {
                guard let read = setting.read else { continue }
                if !read(node, &section, findings) { given.faulty.insert(setting.name) }
            } else if let missing = setting.missing {
                _ = required(setting.name, missing)
            }
        }
    }

    func optional(_ key: String) -> SettingNode? { entries[key] }

    /// - Parameter what: What to give, with an example, for the error about a missing key.
    mutating func required(_ key: String, _ what: String) -> SettingNode? {
        guard let node = entries[key] else {
            if !given.misspelt.contains(key) { findings.fault(.missing(what), at: given.origin.child(key)) }
            given.faulty.insert(key)
            return nil
        }
        return node
    }
}

/// The keys of a mapping that are present, for rules about several settings.
struct GivenSettings: Sendable {
    let origin: ConfigurationOrigin
    fileprivate let origins: [String: ConfigurationOrigin]
    /// The known keys that are present in a misspelt form.
    fileprivate let misspelt: Set<String>
    /// The keys that are missing or whose value is invalid. Their faults are recorded.
    fileprivate(set) var faulty: Set<String> = []

    /// The origin of a given value; nil if it is absent.
    func origin(of key: String) -> ConfigurationOrigin? { origins[key] }

    /// Whether an unknown key resembles this one more than any other.
    func isMisspelt(_ key: String) -> Bool { misspelt.contains(key) }

    func isPresentOrMisspelt(_ key: String) -> Bool { origins[key] != nil || misspelt.contains(key) }
}
