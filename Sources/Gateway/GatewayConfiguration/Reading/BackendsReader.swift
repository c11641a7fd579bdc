import SigningKit

/// Reads `backends`: for each scheme, the settings that its backend declares.
struct BackendsReader {
    private let vocabulary: PluginNames
    private let findings: Findings

    init(_ vocabulary: PluginNames, _ findings: Findings) {
        self.vocabulary = vocabulary
        self.findings = findings
    }

    /// The settings of every backend, with defaults for absent ones.
    func read(_ node: SettingNode?) -> [String: KeyBackendSettings] {
        let mapping = node.flatMap { MappingReader($0, keys: vocabulary.schemes, findings) }
        var settings: [String: KeyBackendSettings] = [:]
        for backend in vocabulary.backends {
            let section = mapping?.optional(backend.scheme)
            settings[backend.scheme] = read(section, for: backend.settings)
        }
        return settings
    }

    /// The values of `settings`, written as in the configuration.
    func texts(_ settings: [String: KeyBackendSettings]) -> [String: [String: String]] {
        var texts: [String: [String: String]] = [:]
        for backend in vocabulary.backends {
            for setting in backend.settings {
                let values = settings[backend.scheme]
                switch setting.kind {
                case .boolean:
                    texts[backend.scheme, default: [:]][setting.name] = values?.boolean(setting.name).description
                case .integer:
                    texts[backend.scheme, default: [:]][setting.name] = values?.integer(setting.name).description
                }
            }
        }
        return texts
    }

    private func read(_ section: SettingNode?, for known: [KeyBackendSetting]) -> KeyBackendSettings? {
        var values: [String: KeyBackendSettings.Value] = [:]
        if let section, let mapping = MappingReader(section, keys: known.map(\.name), findings) {
            for setting in known {
                guard let node = mapping.optional(setting.name) else { continue }
                values[setting.name] = value(node, of: setting.kind)
            }
        }
        do {
            return try KeyBackendSettings(values, for: known)
        } catch {
            // Each value was checked before; still report an error.
            if let section { findings.fault(.notAllowed("cannot be used: \(error)"), at: section.origin) }
            return nil
        }
    }

    private func value(_ node: SettingNode, of kind: KeyBackendSetting.Kind) -> KeyBackendSettings.Value? {
        let value: KeyBackendSettings.Value?
        switch kind {
        case .boolean: value = node.boolean(findings).map { .boolean($0) }
        case .integer: value = node.wholeNumber(findings).map { .integer($0) }
        }
        guard let value, let fault = kind.fault(of: value) else { return value }
        findings.fault(.notAllowed(fault), at: node.origin)
        return nil
    }
}
