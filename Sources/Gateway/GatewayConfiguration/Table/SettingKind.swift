import SigningKit

/// How a kind of value is read, compared and described.
struct SettingKind<Value>: Sendable {
    /// The allowed values, for the reference pages.
    let values: String
    /// Follows the value in differences, such as `s`.
    var unit = ""
    let read: @Sendable (SettingNode, Findings) -> Value?
    /// The value as in the file; nil if there is none.
    let text: @Sendable (Value) -> String?
    /// Compared in place of the text, if the text does not show everything.
    var compared: (@Sendable (Value) -> String?)?

    func member(_ name: String, _ value: Value, needsRestart: Bool) -> SettingTree.Member? {
        text(value).map { text in
            .setting(
                name, unit.isEmpty ? text : "\(text) \(unit)", compared: compared?(value), needsRestart: needsRestart)
        }
    }

    var optional: SettingKind<Value?> {
        let (read, text, compared) = (read, text, compared ?? text)
        return SettingKind<Value?>(
            values: values, unit: unit, read: { read($0, $1).map(Optional.some) }, text: { $0.flatMap(text) },
            compared: { $0.flatMap(compared) })
    }

    static func parsed(
        _ values: String, _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value,
        text: @escaping @Sendable (Value) -> String
    ) -> Self {
        Self(values: values, read: { $0.parsed($1, parse) }, text: text)
    }
}

/// A value that has a form as text, which `description` returns.
protocol ConfiguredText: CustomStringConvertible, Sendable {
    /// - Throws: What is wrong with the text, and the remedy.
    init(_ text: String) throws(InvalidValue)
}

extension SettingKind where Value: ConfiguredText {
    static func text(_ values: String) -> Self {
        .parsed(values) { text throws(InvalidValue) in
            try Value(text)
        } text: {
            $0.description
        }
    }
}

extension SettingKind<Bool> {
    static var boolean: Self {
        Self(values: "`true` or `false`", read: { $0.boolean($1) }, text: { $0.description })
    }
}

extension SettingKind<Int> {
    static func integer(_ allowed: ClosedRange<Int>, unit: String = "") -> Self {
        Self(
            values: "\(allowed.lowerBound) to \(allowed.upperBound)", unit: unit,
            read: { $0.wholeNumber(in: allowed, $1) }, text: { $0.description })
    }
}

extension SettingKind<Double> {
    static func number(_ allowed: ClosedRange<Double>) -> Self {
        Self(
            values: "\(Decimal.text(allowed.lowerBound)) to \(Decimal.text(allowed.upperBound))",
            read: { $0.number(in: allowed, $1) }, text: { Decimal.text($0) })
    }
}

extension SettingKind<Duration> {
    static func seconds(_ allowed: ClosedRange<Int>) -> Self {
        Self(
            values: "\(allowed.lowerBound) to \(allowed.upperBound)", unit: "s",
            read: { $0.seconds(in: allowed, $1) }, text: { $0.components.seconds.description })
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable & Sendable {
    static var choice: Self {
        let words = SettingKind<String>.choice(of: Value.allCases.map(\.rawValue))
        return Self(
            values: words.values, read: { words.read($0, $1).flatMap { Value(exactly: $0) } }, text: { $0.rawValue })
    }
}

extension SettingKind<String> {
    static func choice(of words: [String]) -> Self {
        Self(
            values: words.map { "`\($0)`" }.joined(separator: ", "), read: { $0.choice(of: words, $1) }, text: { $0 })
    }

    static var identifier: Self {
        Self(values: "text without white space", read: { $0.identifier($1) }, text: { $0 })
    }

    /// An identifier from App Store Connect: ASCII only.
    static var assignedIdentifier: Self {
        Self(values: "text without white space, ASCII", read: { $0.assignedIdentifier($1) }, text: { $0 })
    }
}

extension SettingKind<GatewayConfiguration.File> {
    static func file(such example: String = "/etc/privyseal/tls/cert.pem") -> Self {
        Self(values: "absolute path", read: { $0.file($1, such: example) }, text: { $0.path.isEmpty ? nil : $0.path })
    }

    static func directory(such example: String) -> Self {
        Self(values: "absolute path", read: { $0.directory($1, such: example) }, text: { $0.path })
    }
}
