/// A mapping of the file whose keys are a table.
protocol SettingSection: Sendable {
    static var settings: [Setting<Self>] { get }

    /// Sets defaults that depend on other settings, and checks combinations. Called after all settings are read.
    mutating func finish(_ given: GivenSettings, _ findings: Findings)
}

extension SettingSection {
    func finish(_ given: GivenSettings, _ findings: Findings) {}

    /// Reads every given setting. False, with a fault in `findings`, if one of them is invalid.
    mutating func readSection(_ node: SettingNode, _ findings: Findings) -> Bool {
        guard var mapping = MappingReader(node, Self.settings, findings) else { return false }
        mapping.read(Self.settings, into: &self)
        finish(mapping.given, findings)
        return mapping.given.faulty.isEmpty
    }

    var outline: [SettingTree.Member] { Self.settings.compactMap { $0.outline(self) } }

    static func reference(of section: Self) -> [SettingReference] { settings.flatMap { $0.reference(section) } }
}
