/// A value of the configuration, with its origin.
struct SettingNode {
    enum Content {
        /// `isPlain`: written without quotes, so it may also be a number, a Boolean or null.
        case scalar(String, isPlain: Bool)
        case list([SettingNode])
        /// In the order of the file, each name once.
        case mapping([Entry])
        /// The value could not be read; its fault is already recorded.
        case faulty
    }

    struct Entry {
        let name: String
        /// The origin of the key, not of its value.
        let origin: ConfigurationOrigin
        let value: SettingNode
    }

    let content: Content
    let origin: ConfigurationOrigin

    /// Nothing, `~` or `null`, without quotes (YAML 1.2.2 §10.3.2).
    var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    var isFaulty: Bool {
        if case .faulty = content { true } else { false }
    }

    var kind: ConfigurationKind {
        switch content {
        case .scalar(let text, let isPlain):
            isPlain ? Self.kind(ofPlain: text) : .text
        case .list: .list
        case .mapping: .mapping
        case .faulty: .text  // Never shown, because there is no second fault.
        }
    }

    private static func kind(ofPlain text: String) -> ConfigurationKind {
        if ["true", "false"].contains(text) { return .boolean }
        return wholeNumber(text) != nil ? .wholeNumber : number(text) != nil ? .number : .text
    }

    /// A whole number, or digits on both sides of a point: not `.5`, `5.`, `1e3`, nor `inf`.
    static func number(_ text: String) -> Double? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let whole = parts[0].hasPrefix("-") ? parts[0].dropFirst() : parts[0]
        guard wholeNumber(String(whole)) != nil, !whole.hasPrefix("-") else { return nil }
        let digits = parts.count == 2 ? parts[1] : "0"
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Double(text)
    }

    /// Decimal digits, perhaps with a minus. Not `010`, which some parsers read as eight, nor `1_000`, `0x10` or `1e3`.
    static func wholeNumber(_ text: String) -> Int? {
        guard let number = Int(text), String(number) == text else { return nil }
        return number
    }
}
