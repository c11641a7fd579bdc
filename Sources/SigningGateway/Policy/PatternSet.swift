import Glibc
import SigningKit

/// Patterns of which one must match: exact names first, by their hash where there are many, then the others one by one.
struct PatternSet: Sendable {
    /// Whether each identifier matches.
    let isEverything: Bool
    private let few: [String]
    private let many: Set<String>
    private let patterns: [Pattern]

    init(_ patterns: [Pattern]) {
        isEverything = patterns.contains(where: \.isEverything)
        let names = patterns.filter(\.isExact).map(\.text)
        // Up to about here comparing is faster than hashing.
        let areMany = names.count > 8
        few = areMany ? [] : names
        many = areMany ? Set(names) : []
        self.patterns = patterns.filter { !$0.isExact }
    }

    func matches(_ text: String) -> Bool {
        if isEverything { return true }
        for name in few where name.hasSameBytes(as: text) { return true }
        if let position = many.firstIndex(of: text), many[position].hasSameBytes(as: text) { return true }
        for pattern in patterns where pattern.matches(text) { return true }
        return false
    }
}

extension String {
    /// For `==`, two ways to write an accent are one text; Apple sees two.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let left = left.baseAddress, let start = right.baseAddress else { return true }
                return memcmp(left, start, right.count) == 0
            }
        }
    }
}
