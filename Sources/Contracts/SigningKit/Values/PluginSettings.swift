import StrictJSON

/// A setting that a plugin offers to operators.
public struct PluginSetting: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case boolean(default: Bool)
        /// - Parameter except: numbers within `allowed` that are refused.
        case integer(default: Int, allowed: ClosedRange<Int>, except: Set<Int> = [])
        /// A whole number of seconds.
        case seconds(default: Int, allowed: ClosedRange<Int>)
        /// A number that may have a fraction.
        case number(default: Double, allowed: ClosedRange<Double>)
        /// Visible characters without white space, at most 255 bytes of UTF-8, such as a region. An empty default stands
        /// for a setting that is not configured.
        case text(default: String)
        case choice(default: String, of: [String])
    }

    /// In lower camel case, as in the configuration.
    public let name: String
    public let kind: Kind
    /// One line of text, with the unit.
    public let summary: String
    /// The default in words, if it differs between machines; for documentation.
    public let defaultInWords: String?

    public init(_ name: String, _ kind: Kind, _ summary: String, defaultInWords: String? = nil) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.defaultInWords = defaultInWords
    }
}

extension PluginSetting.Kind {
    public var defaultValue: PluginSettings.Value {
        switch self {
        case .boolean(let value): .boolean(value)
        case .integer(let value, _, _), .seconds(let value, _): .integer(value)
        case .number(let value, _): .number(value)
        case .text(let value), .choice(let value, _): .text(value)
        }
    }

    /// The fault of a value, as the rest of a sentence after the setting's name; nil for a valid one.
    public func fault(of value: PluginSettings.Value) -> String? {
        switch (self, value) {
        case (.boolean, .boolean): nil
        case (.boolean, _): "must be true or false"
        case (.integer(_, let allowed, let except), .integer(let number)):
            if allowed.contains(number), except.contains(number) {
                "is \(number); it must be another number from \(allowed.lowerBound) to \(allowed.upperBound)"
            } else {
                Self.fault(of: number, in: allowed)
            }
        case (.seconds(_, let allowed), .integer(let number)):
            Self.fault(of: number, in: allowed).map { $0 + " seconds" }
        case (.integer, _), (.seconds, _): "must be a whole number"
        case (.number(_, let allowed), .number(let number)): Self.fault(of: number, in: allowed)
        case (.number, _): "must be a number"
        case (.text, .text(let text)): Self.fault(of: text)
        case (.choice(_, let choices), .text(let text)):
            choices.containsExactly(text) ? nil : "must be one of \(choices.joined(separator: ", "))"
        case (.text, _), (.choice, _): "must be text"
        }
    }

    private static func fault<Number: Comparable>(of number: Number, in allowed: ClosedRange<Number>) -> String? {
        allowed.contains(number)
            ? nil : "is \(number); it must be from \(allowed.lowerBound) to \(allowed.upperBound)"
    }

    private static func fault(of text: String) -> String? {
        text.unicodeScalars.contains(where: \.properties.isWhitespace)
            ? "holds white space; remove it" : TextRule.identifier.fault(in: text)
    }
}

/// The values of declared settings: the configured ones, and defaults for the rest.
public struct PluginSettings: Hashable, Sendable {
    public enum Value: Hashable, Codable, Sendable {
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

    public var byName: [String: Value] { values }

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
