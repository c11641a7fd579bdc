import SigningKit
import StrictJSON

/// How a kind of value is read, compared and described.
struct SettingKind<Value>: Sendable {
    /// The allowed values, for the reference pages.
    let values: String
    /// Follows the value in differences, such as `s`.
    var unit = ""
    var read: @Sendable (SettingNode, Findings) -> Value?
    /// The value as in the file; nil if there is none.
    var text: @Sendable (Value) -> String? = { _ in nil }
    /// Compared in place of the text, if the text does not show everything.
    var compared: (@Sendable (Value) -> String?)?

    func member(_ name: String, _ value: Value, needsRestart: Bool) -> SettingTree? {
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

    /// Refuses a value that an earlier setting has: in the whole file, or in the same list.
    ///
    /// - Parameter what: the name of the kind, for the message; `shown` is the form of the value in it.
    func once(
        _ what: String, inList: Bool = false, shown: @escaping @Sendable (String) -> String = Excerpt.quoted
    ) -> Self {
        let (read, text) = (read, compared ?? text)
        var kind = self
        kind.read = { node, findings in
            guard let value = read(node, findings), let text = text(value) else { return nil }
            let path = node.origin.path
            let list = inList ? path[..<(path.lastIndex(of: "[") ?? path.endIndex)] : ""
            guard let first = findings.earlier(what, list, ExactText(text), at: node.origin) else { return value }
            findings.fault(
                "gives \(what) \(shown(text)) that is already given at \(first); give it only once", at: node.origin)
            return nil
        }
        return kind
    }

    static func parsed(
        _ values: String, unit: String = "", as kind: SettingNode.Kind = .text,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value, text: @escaping @Sendable (Value) -> String
    ) -> Self {
        Self(values: values, unit: unit, read: { $0.parsed($1, as: kind, parse) }, text: text)
    }
}

extension SettingKind where Value: CustomStringConvertible & Sendable {
    /// A value whose description is its form in the file.
    static func parsed(
        _ values: String, unit: String = "", as kind: SettingNode.Kind = .text,
        _ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value
    ) -> Self {
        parsed(values, unit: unit, as: kind, parse) { $0.description }
    }
}

extension SettingKind where Value: SettingSection {
    /// A mapping. `make` makes a section with the default values.
    static func section(_ make: @escaping @Sendable (ConfigurationOrigin) -> Value) -> Self {
        Self(
            values: "a mapping",
            read: { node, findings in
                var section = make(node.origin)
                _ = section.readSection(node, findings)
                return section
            })
    }
}

extension SettingKind<Bool> {
    static var boolean: Self { .parsed("`true` or `false`", as: .boolean) { $0 == "true" } }
}

extension SettingKind<Int> {
    static func integer(_ allowed: ClosedRange<Int>, unit: String = "", unitInFault: String = "") -> Self {
        let (least, most) = (allowed.lowerBound, allowed.upperBound)
        return .parsed("\(least) to \(most)", unit: unit, as: .wholeNumber) { text throws(InvalidValue) in
            guard let number = SettingNode.wholeNumber(text), allowed.contains(number) else {
                throw InvalidValue("is \(text); it must be from \(least) to \(most)\(unitInFault)")
            }
            return number
        }
    }
}

extension SettingKind<Double> {
    static func number(_ allowed: ClosedRange<Double>) -> Self {
        let (least, most) = (decimal(allowed.lowerBound), decimal(allowed.upperBound))
        return .parsed("\(least) to \(most)", as: .number) { text throws(InvalidValue) in
            guard let number = SettingNode.number(text), allowed.contains(number) else {
                throw InvalidValue("is \(text.prefix(20)); it must be from \(least) to \(most)")
            }
            return number
        } text: {
            decimal($0)
        }
    }

    /// `50` for 50.0, and `0.5`.
    static func decimal(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension SettingKind<Duration> {
    static func seconds(_ allowed: ClosedRange<Int>) -> Self {
        let seconds = SettingKind<Int>.integer(allowed, unitInFault: " seconds")
        return Self(
            values: seconds.values, unit: "s", read: { seconds.read($0, $1).map { .seconds($0) } },
            text: { $0.components.seconds.description })
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
            values: words.map { "`\($0)`" }.joined(separator: ", "), read: { choose($0, among: words, $1) },
            text: { $0 })
    }

    /// The ID of a feature of the program.
    static var feature: Self {
        Self(values: "a feature", read: { choose($0, among: $1.plugins.features, $1) }, text: { $0 })
    }

    static func choose(_ node: SettingNode, among words: [String], _ findings: Findings) -> String? {
        node.parsed(findings) { text throws(InvalidValue) in
            if words.containsExactly(text) { return text }
            throw Self.unknown(text, among: words, findings)
        }
    }

    static func unknown(_ text: String, among words: [String], _ findings: Findings) -> InvalidValue {
        let nearest = findings.hasManyFaults ? nil : Suggestion.nearest(to: text, among: words)
        return InvalidValue(
            "is \(Excerpt.quoted(text)), which is not known; \(Suggestion.question(nearest)) choices are "
                + Suggestion.list(words))
    }

    /// A name of the operator for a service or an issuer. It can be a part of a path, and a metric label.
    static func name(such example: String) -> Self {
        .parsed("1 to 63 of `a-z0-9-`") { text throws(InvalidValue) in
            try require(
                text.hasOnlyLowercase(or: "-") && (1...63).contains(text.utf8.count) && !text.hasPrefix("-"),
                "must be 1 to 63 lower-case letters, digits and hyphens, such as \(example)")
            return text
        }
    }

    /// A text that is signed, or that selects what is signed: visible characters, no white space.
    static var identifier: Self {
        .parsed("text without white space") { text throws(InvalidValue) in
            try checkIdentifier(text)
            return text
        }
    }

    /// An identifier from App Store Connect: ASCII only.
    static var assignedIdentifier: Self {
        .parsed("text without white space, ASCII") { text throws(InvalidValue) in
            try checkIdentifier(text)
            let position = text.unicodeScalars.prefix(while: \.isASCII).count + 1
            try require(
                position > text.unicodeScalars.count,
                "holds a character at position \(position) that is not ASCII; copy it from App Store Connect")
            return text
        }
    }

    private static func checkIdentifier(_ text: String) throws(InvalidValue) {
        try require(!text.unicodeScalars.contains(where: \.properties.isWhitespace), "holds white space; remove it")
        if let fault = TextRule.identifier.fault(in: text) { throw InvalidValue(fault) }
    }
}
