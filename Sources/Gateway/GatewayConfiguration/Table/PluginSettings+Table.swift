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
        guard var given = GivenSettings(node, keys: settings.map(\.name), findings) else { return false }
        given.read(settings, into: &self, findings)
        return given.faulty.isEmpty
    }

    var outline: [SettingTree] { settings.compactMap { $0.outline(self) } }

    var reference: [SettingReference] { settings.flatMap { $0.reference(self) } }
}

extension SettingKind<PluginSettings.Value?> {
    fileprivate static func plugin(_ kind: PluginSetting.Kind) -> Self {
        switch kind {
        case .boolean: Self(SettingKind<Bool>.boolean, kind) { .boolean($0) }
        case .integer(_, let allowed, _): Self(SettingKind<Int>.integer(allowed), kind) { .integer($0) }
        case .seconds(_, let allowed):
            Self(SettingKind<Duration>.seconds(allowed), kind) { .integer(Int($0.components.seconds)) }
        case .number(_, let allowed): Self(SettingKind<Double>.number(allowed), kind) { .number($0) }
        case .text: Self(SettingKind<String>.identifier, kind) { .text($0) }
        case .choice(_, let words): Self(SettingKind<String>.choice(of: words), kind) { .text($0) }
        }
    }

    private init<Own>(
        _ own: SettingKind<Own>, _ kind: PluginSetting.Kind,
        _ value: @escaping @Sendable (Own) -> PluginSettings.Value
    ) {
        let read = own.read
        self.init(
            values: own.values, unit: own.unit,
            read: { node, findings in
                guard let value = read(node, findings).map(value) else { return nil }
                guard let fault = kind.fault(of: value) else { return .some(value) }
                findings.fault(fault, at: node.origin)
                return nil
            },
            text: { value in
                switch value {
                case .boolean(let value): value.description
                case .integer(let value): value.description
                case .number(let value): SettingKind<Double>.decimal(value)
                case .text(let value): value.isEmpty ? nil : value
                case nil: nil
                }
            })
    }
}
