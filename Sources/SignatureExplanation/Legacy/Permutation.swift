/// The orders of a list, one after the other.
enum Permutation {
    /// Turns the order into the next in lexicographic order; false, and nothing changed, at the last.
    static func next(_ order: inout [LegacyField]) -> Bool {
        guard let pivot = order.indices.dropLast().last(where: { order[$0].rawValue < order[$0 + 1].rawValue }),
            let successor = order.indices.last(where: { order[$0].rawValue > order[pivot].rawValue })
        else { return false }
        order.swapAt(pivot, successor)
        order[(pivot + 1)...].reverse()
        return true
    }
}
