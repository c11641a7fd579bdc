/// Patterns of which one must match: exact names by their hash, the others one after the other.
struct PatternSet: Sendable {
    private let isEverything: Bool
    private let names: Set<String>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        names = Set(patterns.filter(\.isExact).map(\.text))
        self.patterns = patterns.filter { !$0.isExact }
    }

    func matches(_ text: String) -> Bool {
        if isEverything { return true }
        if let position = names.firstIndex(of: text), names[position].hasSameBytes(as: text) { return true }
        return patterns.contains { $0.matches(text) }
    }
}

extension String {
    /// For `==`, two ways to write an accent are one text; Apple sees two.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
