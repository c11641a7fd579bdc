enum Permutation {
    /// Changes `order` to the next one in lexicographic order. Returns false for the last one, which stays unchanged.
    static func next(_ order: inout [LegacyField]) -> Bool {
        guard let pivot = order.indices.dropLast().last(where: { order[$0].rawValue < order[$0 + 1].rawValue }),
            let successor = order.indices.last(where: { order[$0].rawValue > order[pivot].rawValue })
        else { return false }
        order.swapAt(pivot, successor)
        order[(pivot + 1)...].reverse()
        return true
    }
}
