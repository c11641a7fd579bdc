/// The values of declared settings: the configured ones, and defaults for the rest.
public struct PluginSettings: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        case boolean(Bool)
        case integer(Int)
        case number(Double)
        case text(String)
    }

    public let declared: [PluginSetting]
    private var values: [String: Value]

    public init(defaultsOf settings: [PluginSetting]) {
        declared = settings
        values = Dictionary(settings.map { ($0.name, $0.kind.defaultValue) }) { first, _ in first }
    }

    /// - Parameter values: by name.
    /// - Throws: `KeyError.invalidSetting` for an unknown name, a value of the wrong kind or a value out of range.
    public init(_ values: [String: Value] = [:], for settings: [PluginSetting]) throws(KeyError) {
        self.init(defaultsOf: settings)
        for (name, value) in values { try set(name, to: value) }
    }

    /// - Throws: `KeyError.invalidSetting`, like `init(_:for:)`.
    public mutating func set(_ name: String, to value: Value) throws(KeyError) {
        guard let setting = declared.first(where: { $0.name == name }) else {
            let known = declared.map(\.name).joined(separator: ", ")
            throw .invalidSetting(name: name, "is not a setting of this backend; its settings are \(known)")
        }
        if let fault = setting.kind.fault(of: value) { throw .invalidSetting(name: name, fault) }
        values[name] = value
    }

    /// Nil if the plugin does not declare it.
    public package(set) subscript(name: String) -> Value? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The value of a Boolean setting; false if the plugin does not declare it.
    public func boolean(_ name: String) -> Bool {
        if case .boolean(let value) = values[name] { value } else { false }
    }

    /// The value of an integer setting; 0 if the plugin does not declare it.
    public func integer(_ name: String) -> Int {
        if case .integer(let value) = values[name] { value } else { 0 }
    }

    /// The value of a setting in seconds; zero if the plugin does not declare it.
    public func seconds(_ name: String) -> Duration { .seconds(integer(name)) }

    /// The value of a setting that may have a fraction; 0 if the plugin does not declare it.
    public func number(_ name: String) -> Double {
        if case .number(let value) = values[name] { value } else { 0 }
    }

    /// The value of a text or a choice; empty if the plugin does not declare it.
    public func text(_ name: String) -> String {
        if case .text(let value) = values[name] { value } else { "" }
    }
}
