/// A setting that a backend offers to operators.
public struct KeyBackendSetting: Sendable {
    public enum Kind: Sendable {
        case boolean(default: Bool)
        /// - Parameter except: numbers within `allowed` that are refused.
        case integer(default: Int, allowed: ClosedRange<Int>, except: Set<Int> = [])
    }

    /// In lower camel case, as in the configuration.
    public let name: String
    public let kind: Kind
    /// One line of text, with the unit.
    public let summary: String

    public init(_ name: String, _ kind: Kind, _ summary: String) {
        self.name = name
        self.kind = kind
        self.summary = summary
    }
}

/// The values of a backend's settings: the configured ones, and defaults for the rest.
public struct KeyBackendSettings: Hashable, Sendable {
    public enum Value: Hashable, Sendable {
        case boolean(Bool)
        case integer(Int)
    }

    private let values: [String: Value]

    public init(defaultsOf settings: [KeyBackendSetting]) {
        var defaults: [String: Value] = [:]
        for setting in settings { defaults[setting.name] = setting.kind.defaultValue }
        values = defaults
    }

    /// - Parameter values: by name.
    /// - Throws: `KeyError.invalidSetting` for an unknown name, a value of the wrong kind or a value out of range.
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

    /// A copy with another value for one setting.
    ///
    /// - Throws: `KeyError.invalidSetting`, like `init(_:for:)`.
    public func setting(
        _ name: String, to value: Value, of settings: [KeyBackendSetting]
    ) throws(KeyError) -> KeyBackendSettings {
        var values = values
        values[name] = value
        return try KeyBackendSettings(values, for: settings)
    }

    /// The value of a Boolean setting; false if the backend does not declare it.
    public func boolean(_ name: String) -> Bool {
        if case .boolean(let value) = values[name] { value } else { false }
    }

    /// The value of an integer setting; 0 if the backend does not declare it.
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

    /// The fault of a value, as the rest of a sentence after the setting's name; nil for a valid one.
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
