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
        guard !text.unicodeScalars.contains(where: \.properties.isWhitespace) else {
            return "holds white space; remove it"
        }
        do throws(JSONReadError) {
            try TextRule.identifier.check(text)
            return nil
        } catch {
            if case .invalid(let sentence) = error.reason { return sentence }
            return "is not allowed"
        }
    }
}
