/// A value of the configuration, with its origin.
struct SettingNode: Sendable {
    enum Content: Sendable {
        /// `isPlain`: written without quotes, so it may also be a number, a Boolean or null.
        case scalar(String, isPlain: Bool)
        case list([SettingNode])
        /// In the order of the file, each name once.
        case mapping([Entry])
        /// The value could not be read; its fault is already recorded.
        case faulty
    }

    struct Entry: Sendable {
        let name: String
        /// The origin of the key, not of its value.
        let origin: ConfigurationOrigin
        let value: SettingNode
    }

    enum Kind: String {
        case text
        case boolean = "true or false"
        case wholeNumber = "a whole number"
        case number = "a number"
        case list = "a list"
        case mapping = "a mapping"
    }

    let content: Content
    let origin: ConfigurationOrigin

    static let longestList = 10_000

    /// Nothing, `~` or `null`, without quotes (YAML 1.2.2 §10.3.2).
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    private var kind: Kind {
        switch content {
        case .scalar(let text, isPlain: true):
            if ["true", "false"].contains(text) {
                .boolean
            } else {
                Self.wholeNumber(text) != nil ? .wholeNumber : Self.number(text) != nil ? .number : .text
            }
        case .scalar, .faulty: .text
        case .list: .list
        case .mapping: .mapping
        }
    }
}

extension SettingNode {
    /// The elements of the list with this name in a mapping; empty if there is none.
    func elements(of name: String) -> [SettingNode] {
        guard case .list(let elements) = member(name)?.content else { return [] }
        return elements
    }

    /// The value with this name in a mapping; nil if there is none.
    func member(_ name: String) -> SettingNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.name == name }?.value
    }
}

/// The methods return nil, with a fault in `findings`, if the node does not have such a value.
extension SettingNode {
    /// The value of a scalar. Text is any scalar as written, also one that looks like a number.
    func parsed<Value>(
        _ findings: Findings, as expected: Kind = .text, _ parse: (String) throws(InvalidValue) -> Value
    ) -> Value? {
        let isExpected = expected == .text || kind == expected || (expected == .number && kind == .wholeNumber)
        guard case .scalar(let text, _) = content, !isNull, isExpected else {
            refuse(as: expected, findings)
            return nil
        }
        do {
            return try parse(text)
        } catch {
            findings.fault(error.sentence, at: origin)
            return nil
        }
    }

    /// - Parameter what: The kind of the elements, for the fault about an empty list.
    func list(of what: String, _ findings: Findings) -> [SettingNode]? {
        guard case .list(let elements) = content else {
            refuse(as: .list, findings)
            return nil
        }
        switch elements.count {
        case 0: findings.fault("is an empty list; give at least one \(what)", at: origin)
        case 1...Self.longestList: return elements
        case let count:
            findings.fault("is a list of \(count) elements; at most \(Self.longestList) are allowed", at: origin)
        }
        return nil
    }

    /// Records that the value is missing or of the wrong kind.
    func refuse(as expected: Kind, _ findings: Findings) {
        if case .faulty = content { return }
        findings.fault(
            isNull
                ? "has no value; give \(expected.rawValue), or leave it out"
                : "must be \(expected.rawValue), but \(flaw(as: expected))\(Self.hint(expected))", at: origin)
    }

    private func flaw(as expected: Kind) -> String {
        guard expected == .wholeNumber, case .scalar(let text, isPlain: true) = content else {
            return "is \(kind.rawValue)"
        }
        if kind == .number, text.contains(".") { return "has a fraction" }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return "is \(kind.rawValue)"
        }
        return digits.hasPrefix("0") ? "begins with a zero" : "is out of range"
    }

    /// The remedies for values that older YAML parsers accept.
    private static func hint(_ expected: Kind) -> String {
        switch expected {
        case .boolean: "; write true or false, without quotes"
        case .wholeNumber: "; write it in decimal digits, without quotes or a unit"
        case .number: "; write it in decimal digits, such as 0.5, without quotes or a unit"
        case .list: "; begin each element with \"- \", or write [a, b]"
        case .mapping: "; write each key on a line of its own, as in \"key: value\""
        case .text: ""
        }
    }

    /// A whole number, or digits on both sides of a point: not `.5`, `5.`, `1e3`, nor `inf`.
    static func number(_ text: String) -> Double? {
        text.wholeMatch(of: /-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?/) == nil ? nil : Double(text)
    }

    /// Decimal digits, perhaps with a minus. Not `010`, which some parsers read as eight, nor `1_000`, `0x10` or `1e3`.
    static func wholeNumber(_ text: String) -> Int? {
        guard let number = Int(text), String(number) == text else { return nil }
        return number
    }
}
