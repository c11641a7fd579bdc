import SigningKit

/// Patterns of which one must match. Exact names come first, with a hash table if there are many.
struct PatternSet: Sendable {
    /// Whether every identifier matches.
    let isEverything: Bool
    private let few: [String]
    private let many: Set<ExactText>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        let names = patterns.filter(\.isExact).map(\.text)
        // For up to about 8 names, comparison is faster than hashing.
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
