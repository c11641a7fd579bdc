/// The known word that is most similar to a mistyped one, for "did you mean …".
public enum Suggestion {
    /// The end of a sentence about a name that is not known: the most similar known name, and all known names.
    ///
    /// - Parameter kind: what the names are, in the plural.
    public static func choices(_ kind: String, for word: String, among known: [String]) -> String {
        "\(question(nearest(to: word, among: known))) \(kind) are \(list(known))"
    }

    /// Nil if no word is similar: at most a third of the letters may differ. Case does not count. Compares only the
    /// first thousand names, because each comparison takes microseconds.
    static func nearest(to word: String, among known: [String]) -> String? {
        // The time grows with the product of the lengths, and no known name is this long.
        guard word.unicodeScalars.count <= 64 else { return nil }
        let ranked = known.prefix(1000).map { (distance(word.lowercased(), $0.lowercased()), $0) }
        guard let (distance, name) = ranked.min(by: { $0.0 < $1.0 }) else { return nil }
        return distance <= max(1, name.count / 3) ? name : nil
    }

    /// The beginning of a sentence that lists the known words.
    static func question(_ nearest: String?) -> String { nearest.map { "did you mean \($0)? The" } ?? "the" }

    static func list(_ known: [String]) -> String {
        let listed = known.prefix(20).joined(separator: ", ")
        return known.count > 20 ? "\(listed) and \(known.count - 20) more" : listed
    }

    /// The insertions, deletions, substitutions and swaps of neighbours between two words (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(substitution, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
