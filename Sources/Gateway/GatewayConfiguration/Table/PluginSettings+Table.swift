import SigningKit

/// The settings that plugins declare are rows of the table, too.
extension PluginSettings {
    private var settings: [Setting<Self>] {
        declared.map { setting in
            .value(
                setting.name, \.[setting.name], .plugin(setting.kind), standard: setting.defaultInWords, setting.summary
            )
        }
    }

    mutating func readSection(_ node: SettingNode, _ findings: Findings) -> Bool {
        let settings = settings
        guard var mapping = MappingReader(node, settings, findings) else { return false }
        mapping.read(settings, into: &self)
        return mapping.given.faulty.isEmpty
    }

    var outline: [SettingTree.Member] { settings.compactMap { $0.outline(self) } }

    var reference: [SettingReference] { settings.flatMap { $0.reference(self) } }
}

extension SettingKind<PluginSettings.Value?> {
    fileprivate static func plugin(_ kind: PluginSetting.Kind) -> Self {
        Self(
            values: kind.allowed,
            read: { node, findings in
                guard let value = kind.value(of: node, findings) else { return nil }
                guard let fault = kind.fault(of: value) else { return .some(value) }
                findings.fault(.notAllowed(fault), at: node.origin)
                return nil
            },
            text: { value in
                switch value {
                case .boolean(let value): value.description
                case .integer(let value): value.description
                case .number(let value): Decimal.text(value)
                case .text(let value): value.isEmpty ? nil : value
                case nil: nil
                }
            })
    }
}

extension PluginSetting.Kind {
    fileprivate var allowed: String {
        switch self {
        case .boolean: "`true` or `false`"
        case .integer(_, let allowed, let except):
            "\(allowed.lowerBound) to \(allowed.upperBound)"
                + (except.isEmpty ? "" : " except \(except.sorted().map(\.description).joined(separator: ", "))")
        case .seconds(_, let allowed): "\(allowed.lowerBound) to \(allowed.upperBound)"
        case .number(_, let allowed): "\(Decimal.text(allowed.lowerBound)) to \(Decimal.text(allowed.upperBound))"
        case .text: "text without white space"
        case .choice(_, let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        }
    }

    fileprivate func value(of node: SettingNode, _ findings: Findings) -> PluginSettings.Value? {
        switch self {
        case .boolean: node.boolean(findings).map { .boolean($0) }
        case .integer, .seconds: node.wholeNumber(findings).map { .integer($0) }
        case .number(_, let allowed): node.number(in: allowed, findings).map { .number($0) }
        case .text: node.text(findings).map { .text($0) }
        case .choice(_, let choices): node.choice(of: choices, findings).map { .text($0) }
        }
    }
}
