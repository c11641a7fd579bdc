import SigningKit

/// Patterns of which one must match: exact names first, by their hash where there are many, then the others one by one.
struct PatternSet: Sendable {
    /// Whether each identifier matches.
    let isEverything: Bool
    private let few: [String]
    private let many: Set<ExactText>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        let names = patterns.filter(\.isExact).map(\.text)
        // Up to about here comparing is faster than hashing.
        let areMany = names.count > 8
        few = areMany ? [] : names
        many = areMany ? Set(names.map(ExactText.init)) : []
        self.patterns = patterns.filter { !$0.isExact }
    }

    func matches(_ text: String) -> Bool {
        if isEverything { return true }
        for name in few where name.hasSameBytes(as: text) { return true }
        if many.contains(ExactText(text)) { return true }
        for pattern in patterns where pattern.matches(text) { return true }
        return false
    }
}
