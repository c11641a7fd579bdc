import SigningKit
import StrictJSON

/// The methods return nil, with a fault in `findings`, if the node does not have such a value.
extension SettingNode {
    static let longestList = 10_000

    /// Any scalar as written, also one that looks like a number.
    func text(_ findings: Findings) -> String? { scalar(.text, nil, findings) }

    /// A text that is signed, or that selects what is signed: visible characters, no white space.
    func identifier(_ findings: Findings) -> String? {
        guard let text = text(findings) else { return nil }
        guard !text.unicodeScalars.contains(where: \.properties.isWhitespace) else {
            return refuse(.notAllowed("holds white space; remove it"), findings)
        }
        do {
            try TextRule.identifier.check(text)
        } catch {
            guard case .invalid(let sentence) = error.reason else { return nil }
            return refuse(.notAllowed(sentence), findings)
        }
        return text
    }

    /// An identifier from App Store Connect: ASCII only.
    func assignedIdentifier(_ findings: Findings) -> String? {
        guard let text = identifier(findings) else { return nil }
        if let position = text.unicodeScalars.enumerated().first(where: { !$0.element.isASCII })?.offset {
            let sentence =
                "holds a character at position \(position + 1) that is not ASCII; copy it from App Store Connect"
            return refuse(.notAllowed(sentence), findings)
        }
        return text
    }

    func boolean(_ findings: Findings) -> Bool? { scalar(.boolean, [.boolean], findings).map { $0 == "true" } }

    func wholeNumber(_ findings: Findings) -> Int? {
        scalar(.wholeNumber, [.wholeNumber], findings).flatMap(Self.wholeNumber)
    }

    func wholeNumber(in allowed: ClosedRange<Int>, unit: String = "", _ findings: Findings) -> Int? {
        guard let number = wholeNumber(findings) else { return nil }
        guard allowed.contains(number) else {
            let range = "from \(allowed.lowerBound) to \(allowed.upperBound)\(unit)"
            return refuse(.notAllowed("is \(number); it must be \(range)"), findings)
        }
        return number
    }

    func number(in allowed: ClosedRange<Double>, _ findings: Findings) -> Double? {
        guard let text = scalar(.number, [.wholeNumber, .number], findings), let number = Self.number(text) else {
            return nil
        }
        guard allowed.contains(number) else {
            let (least, most) = (Decimal.text(allowed.lowerBound), Decimal.text(allowed.upperBound))
            return refuse(.notAllowed("is \(text.prefix(20)); it must be from \(least) to \(most)"), findings)
        }
        return number
    }

    func seconds(in allowed: ClosedRange<Int>, _ findings: Findings) -> Duration? {
        wholeNumber(in: allowed, unit: " seconds", findings).map { .seconds($0) }
    }

    /// - Parameter kinds: The accepted kinds; nil for all.
    private func scalar(
        _ expected: ConfigurationKind, _ kinds: [ConfigurationKind]?, _ findings: Findings
    ) -> String? {
        guard !isNull else { return refuse(.noValue(expected: expected), findings) }
        guard case .scalar(let text, _) = content, kinds?.contains(kind) != false else {
            return refuse(.wrongKind(expected: expected, found: kind), findings)
        }
        return text
    }

    /// The path of a file that is opened later. `example` is for the error, and `path` extracts the path from the text.
    func file(
        _ findings: Findings, such example: String = "/etc/privyseal/tls/cert.pem",
        path: (String) -> String = { $0 }
    ) -> GatewayConfiguration.File? {
        absolutePath(findings, of: "file", such: example, path)
    }

    /// The path of a directory, without a trailing slash.
    func directory(_ findings: Findings, such example: String) -> GatewayConfiguration.File? {
        absolutePath(findings, of: "directory", such: example) { $0 }
    }

    private func absolutePath(
        _ findings: Findings, of what: String, such example: String, _ path: (String) -> String
    ) -> GatewayConfiguration.File? {
        let path = parsed(findings) { text throws(InvalidValue) in
            let path = path(text)
            let isSafe = path.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            guard path.hasPrefix("/"), !path.hasSuffix("/"), isSafe, path.utf8.count < 4096 else {
                throw InvalidValue("must be the absolute path of a \(what), such as \(example)")
            }
            return path
        }
        return path.map { GatewayConfiguration.File(path: $0, origin: origin) }
    }

    /// - Parameter what: The kind of the elements, for the error about an empty list.
    func list(of what: String, _ findings: Findings) -> [SettingNode]? {
        guard !isNull else { return refuse(.noValue(expected: .list), findings) }
        guard case .list(let elements) = content else {
            return refuse(.wrongKind(expected: .list, found: kind), findings)
        }
        guard !elements.isEmpty else {
            return refuse(.notAllowed("is an empty list; give at least one \(what)"), findings)
        }
        guard elements.count <= Self.longestList else {
            let sentence = "is a list of \(elements.count) elements; at most \(Self.longestList) are allowed"
            return refuse(.notAllowed(sentence), findings)
        }
        return elements
    }

    func choice(of words: [String], _ findings: Findings) -> String? {
        guard let text = text(findings) else { return nil }
        guard words.containsExactly(text) else {
            return refuse(.notAllowed(SettingNode.unknown(text, among: words)), findings)
        }
        return text
    }

    func parsed<Value>(_ findings: Findings, _ parse: (String) throws(InvalidValue) -> Value) -> Value? {
        guard let text = text(findings) else { return nil }
        do {
            return try parse(text)
        } catch {
            return refuse(.notAllowed(error.sentence), findings)
        }
    }

    static func unknown(_ text: String, among known: [String]) -> String {
        let suggestion = Suggestion.nearest(to: text, among: known).map { "did you mean \($0)? The" } ?? "the"
        return "is \(Excerpt.quoted(text)), which is not known; \(suggestion) choices are \(Suggestion.list(known))"
    }

    private func refuse<Value>(_ reason: ConfigurationFault.Reason, _ findings: Findings) -> Value? {
        if !isFaulty { findings.fault(reason, at: origin) }
        return nil
    }
}
