import SigningKit

/// The keys of a mapping that are present. An unknown key is a fault, so that a misspelt key does not count as absent.
struct GivenSettings: Sendable {
    let origin: ConfigurationOrigin
    private let origins: [String: ConfigurationOrigin]
    private var values: [String: SettingNode]
    /// The known keys that are present in a misspelt form.
    private let misspelt: Set<String>
    /// The keys that are missing or whose value is invalid. Their faults are recorded.
    private(set) var faulty: Set<String> = []

    /// Nil, with a fault in `findings`, if the node is not a mapping.
    init?(_ node: SettingNode, keys: [String], _ findings: Findings) {
        guard case .mapping(let entries) = node.content else {
            node.refuse(as: .mapping, findings)
            return nil
        }
        var known: [String: SettingNode] = [:]
        var misspelt: Set<String> = []
        for entry in entries {
            if keys.containsExactly(entry.name) {
                known[entry.name] = entry.value
                continue
            }
            let suggestion = findings.hasManyFaults ? nil : Suggestion.nearest(to: entry.name, among: keys)
            findings.fault(
                "is not a known key; \(Suggestion.question(suggestion)) keys are \(keys.joined(separator: ", "))",
                at: entry.origin)
            if let suggestion { misspelt.insert(suggestion) }
        }
        origin = node.origin
        origins = known.mapValues(\.origin)
        values = known
        self.misspelt = misspelt
    }

    /// Reads the values of the rows that have a reader, and reports missing ones. Then forgets the values: sections
    /// keep the keys, but no URIs, which lead to secrets.
    mutating func read<Section>(_ settings: [Setting<Section>], into section: inout Section, _ findings: Findings) {
        for setting in settings {
            if let node = values[setting.name] {
                if setting.read?(node, &section, findings) == false { faulty.insert(setting.name) }
            } else if let missing = setting.missing {
                _ = required(setting.name, missing, findings)
            }
        }
        values = [:]
    }

    func value(of key: String) -> SettingNode? { values[key] }

    /// - Parameter what: What to give, with an example, for the fault about a missing key.
    mutating func required(_ key: String, _ what: String, _ findings: Findings) -> SettingNode? {
        if let node = values[key] { return node }
        if !misspelt.contains(key) {
            findings.fault("is missing; give \(findings.plugins.completed(what))", at: origin.child(key))
        }
        faulty.insert(key)
        return nil
    }

    /// The origin of a given value; nil if it is absent.
    func origin(of key: String) -> ConfigurationOrigin? { origins[key] }

    /// The origin of a valid value; nil if it is absent or invalid.
    func valid(_ key: String) -> ConfigurationOrigin? { faulty.contains(key) ? nil : origin(of: key) }

    /// Whether an unknown key resembles this one more than any other.
    func isMisspelt(_ key: String) -> Bool { misspelt.contains(key) }

    func isPresentOrMisspelt(_ key: String) -> Bool { origins[key] != nil || misspelt.contains(key) }
}
