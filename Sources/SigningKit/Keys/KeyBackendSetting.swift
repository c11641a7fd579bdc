/// A setting that a backend offers to its operators.
public struct KeyBackendSetting: Sendable {
    public enum Kind: Sendable {
        case boolean(default: Bool)
        /// - Parameter except: numbers within `allowed` that are refused all the same.
        case integer(default: Int, allowed: ClosedRange<Int>, except: Set<Int> = [])
    }

    /// In lower camel case, as in the configuration.
    public let name: String
    public let kind: Kind
    /// One line for people, with the unit.
    public let summary: String

    public init(_ name: String, _ kind: Kind, _ summary: String) {
        self.name = name
        self.kind = kind
        self.summary = summary
    }
}

/// The values of a backend's settings: those that an operator gave, and the defaults for the rest.
public struct KeyBackendSettings: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        case boolean(Bool)
        case integer(Int)
    }

    private let values: [String: Value]

    /// The defaults.
    public init(defaultsOf settings: [KeyBackendSetting]) {
        var defaults: [String: Value] = [:]
        for setting in settings { defaults[setting.name] = setting.kind.defaultValue }
        values = defaults
    }

    /// - Parameter values: by name; a name that the backend does not offer or a value of the wrong kind or out of range
    ///   throws `KeyError.invalidSetting`.
    public init(_ values: [String: Value] = [:], for settings: [KeyBackendSetting]) throws(KeyError) {
        var merged = KeyBackendSettings(defaultsOf: settings).values
        for (name, value) in values {
            guard let setting = settings.first(where: { $0.name == name }) else {
                let known = settings.map(\.name).joined(separator: ", ")
                throw .invalidSetting(name: name, "is not a setting of this backend; its settings are \(known)")
            }
            if let fault = setting.kind.fault(of: value) { throw .invalidSetting(name: name, fault) }
            merged[name] = value
        }
        self.values = merged
    }

    /// The same with another value for one setting.
    ///
    /// - Throws: `KeyError.invalidSetting`, as `init(_:for:)` does.
    public func setting(
        _ name: String, to value: Value, of settings: [KeyBackendSetting]
    ) throws(KeyError) -> KeyBackendSettings {
        var values = values
        values[name] = value
        return try KeyBackendSettings(values, for: settings)
    }

    /// The value of a Boolean setting that the backend declares; false for a name that it does not.
    public func boolean(_ name: String) -> Bool {
        if case .boolean(let value) = values[name] { value } else { false }
    }

    /// The value of an integer setting that the backend declares; 0 for a name that it does not.
    public func integer(_ name: String) -> Int {
        if case .integer(let value) = values[name] { value } else { 0 }
    }
}

extension KeyBackendSetting.Kind {
    var defaultValue: KeyBackendSettings.Value {
        switch self {
        case .boolean(let value): .boolean(value)
        case .integer(let value, _, _): .integer(value)
        }
    }

    /// What is wrong with a value, as a sentence that goes on after the setting's name, or nil.
    public func fault(of value: KeyBackendSettings.Value) -> String? {
        switch (self, value) {
        case (.boolean, .boolean): nil
        case (.integer(_, let allowed, let except), .integer(let number)):
            if !allowed.contains(number) {
                "is \(number); it must be from \(allowed.lowerBound) to \(allowed.upperBound)"
            } else if except.contains(number) {
                "is \(number); it must be another number from \(allowed.lowerBound) to \(allowed.upperBound)"
            } else {
                nil
            }
        case (.boolean, .integer): "must be true or false"
        case (.integer, .boolean): "must be a whole number"
        }
    }
}
