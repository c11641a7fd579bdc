/// A row of the table of settings: one key of a section of the file. The reader, the messages about unknown and missing
/// keys, the variables, the differences of a reload and the reference pages are loops over these rows.
struct Setting<Section>: Sendable {
    typealias Field<Value> = any WritableKeyPath<Section, Value> & Sendable
    /// Returns false, with a fault in `findings`, if the value is invalid.
    typealias Read = @Sendable (SettingNode, inout Section, Findings) -> Bool
    typealias Outline = @Sendable (Section) -> SettingTree?

    let name: String
    /// What to give, with an example, if the key is missing; nil if it may be missing.
    var missing: String?
    /// Nil for a row that is not a key, and only appears in the differences.
    var read: Read?
    /// The value in the differences of a reload; nil if there is none.
    var outline: Outline = { _ in nil }
    var variables: [SettingVariable<Section>] = []
    /// The rows of the reference pages. The argument is a section with the default values.
    var reference: @Sendable (Section) -> [SettingReference] = { _ in [] }
}

/// An environment variable that takes precedence over the file.
struct SettingVariable<Section>: Sendable {
    let name: String
    let read: Setting<Section>.Read
}

/// The description of a setting, for the reference pages.
struct SettingReference: Sendable {
    /// From the root, as in `limits.connections` or `accounts[].keys[].uri`.
    private(set) var path: String
    let values: String
    let standard: String
    let summary: String
    var variable: String?
    var needsRestart = false

    func below(_ prefix: String) -> Self {
        var copy = self
        copy.path = prefix + path
        return copy
    }
}

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
        let keys = Self.settings.filter { $0.read != nil }.map(\.name)
        guard var given = GivenSettings(node, keys: keys, findings) else { return false }
        given.read(Self.settings, into: &self, findings)
        finish(given, findings)
        return given.faulty.isEmpty
    }

    var outline: [SettingTree] { Self.settings.compactMap { $0.outline(self) } }

    static func reference(of section: Self) -> [SettingReference] { settings.flatMap { $0.reference(section) } }
}

extension Setting {
    /// A value of the section.
    ///
    /// - Parameters:
    ///   - standard: the default in words; by default, the initial value of the field.
    ///   - summary: for the reference pages, in Markdown, with the unit and without the allowed values.
    static func value<Value>(
        _ name: String, _ field: Field<Value>, _ kind: SettingKind<Value>, missing: String? = nil,
        variable: String? = nil, needsRestart: Bool = false, standard: String? = nil, _ summary: String
    ) -> Self {
        let read: Read = { node, section, findings in
            guard let value = kind.read(node, findings) else { return false }
            section[keyPath: field] = value
            return true
        }
        return Setting(
            name: name, missing: missing, read: read,
            outline: { kind.member(name, $0[keyPath: field], needsRestart: needsRestart) },
            variables: variable.map { [SettingVariable(name: $0, read: read)] } ?? [],
            reference: { section in
                let initial = missing == nil ? kind.text(section[keyPath: field]).map { "`\($0)`" } : "required"
                return [
                    SettingReference(
                        path: name, values: kind.values, standard: standard ?? initial ?? "none", summary: summary,
                        variable: variable, needsRestart: needsRestart)
                ]
            })
    }

    /// A value that may be absent.
    static func optional<Value>(
        _ name: String, _ field: Field<Value?>, _ kind: SettingKind<Value>, missing: String? = nil,
        needsRestart: Bool = false, standard: String? = nil, _ summary: String
    ) -> Self {
        value(name, field, kind.optional, missing: missing, needsRestart: needsRestart, standard: standard, summary)
    }

    /// A mapping that always has a value.
    static func section<Member: SettingSection>(_ name: String, _ field: Field<Member>) -> Self {
        Setting(
            name: name, read: { $1[keyPath: field].readSection($0, $2) },
            outline: { .group(name, $0[keyPath: field].outline) },
            variables: Member.settings.flatMap(\.variables).map { variable in
                SettingVariable(name: variable.name) { variable.read($0, &$1[keyPath: field], $2) }
            },
            reference: { section in Member.reference(of: section[keyPath: field]).map { $0.below("\(name).") } })
    }

    /// A mapping that may be absent. `make` makes a section with the default values.
    ///
    /// - Parameter summary: for a row of its own in the reference pages.
    static func section<Member: SettingSection>(
        _ name: String, optional field: Field<Member?>, summary: String? = nil,
        _ make: @escaping @Sendable (ConfigurationOrigin) -> Member
    ) -> Self {
        Setting(
            name: name,
            read: { node, section, findings in
                var member = section[keyPath: field] ?? make(node.origin)
                let isValid = member.readSection(node, findings)
                section[keyPath: field] = member
                return isValid
            },
            outline: { $0[keyPath: field].map { .group(name, $0.outline) } },
            reference: { _ in
                let own = summary.map {
                    SettingReference(path: name, values: "a mapping", standard: "none", summary: $0)
                }
                let members = Member.reference(of: make(.unknown))
                return (own.map { [$0] } ?? []) + members.map { $0.below("\(name).") }
            })
    }

    /// A key with a reader of its own.
    static func key(
        _ name: String, values: String, standard: String, needsRestart: Bool = false, _ summary: String,
        read: @escaping Read, outline: @escaping Outline = { _ in nil }
    ) -> Self {
        let reference = SettingReference(
            path: name, values: values, standard: standard, summary: summary, needsRestart: needsRestart)
        return Setting(name: name, read: read, outline: outline, reference: { _ in [reference] })
    }

    /// A list of values or mappings.
    ///
    /// - Parameters:
    ///   - what: An element, for messages.
    ///   - members: The rows of the reference pages for the keys of an element.
    ///   - outline: Shows the list in the differences.
    static func list<Element>(
        _ name: String, _ field: Field<[Element]>, of what: String, _ kind: SettingKind<Element>,
        values: String = "a list", missing: String? = nil, standard: String = "none", _ summary: String,
        members: [SettingReference] = [], outline: @escaping @Sendable ([Element]) -> SettingTree?
    ) -> Self {
        let own = SettingReference(
            path: name, values: values, standard: missing == nil ? standard : "required", summary: summary)
        return Setting(
            name: name, missing: missing,
            read: { node, section, findings in
                guard let nodes = node.list(of: what, findings) else { return false }
                section[keyPath: field] = nodes.compactMap { kind.read($0, findings) }
                return section[keyPath: field].count == nodes.count
            },
            outline: { outline($0[keyPath: field]) },
            reference: { _ in [own] + members.map { $0.below("\(name)[].") } })
    }

    /// The same row with another reader.
    func read(_ read: @escaping Read) -> Self {
        var row = self
        row.read = read
        return row
    }

    /// The same row with another form in the differences.
    func shown(_ outline: @escaping Outline) -> Self {
        var row = self
        row.outline = outline
        return row
    }
}
