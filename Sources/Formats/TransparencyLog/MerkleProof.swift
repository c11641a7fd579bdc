/// Proves that a tree contains a leaf (RFC 6962 §2.1.1).
public struct InclusionProof: Hashable, Sendable {
    /// The index of the leaf, from 0.
    public let index: Int
    /// The number of the tree's leaves.
    public let size: Int
    /// From the leaf's sibling up to the root's child.
    public let hashes: [MerkleHash]

    public init(index: Int, size: Int, hashes: [MerkleHash]) {
        self.index = index
        self.size = size
        self.hashes = hashes
    }

    /// Whether the tree with this root has the leaf at `index` (RFC 9162 §2.1.3.2).
    public func verify(leaf: MerkleHash, root: MerkleHash) -> Bool {
        guard index >= 0, index < size else { return false }
        var path = MerklePath(node: index, last: size - 1)
        var hash = leaf
        for sibling in hashes {
            guard let isLeft = path.rise() else { return false }
            hash = isLeft ? .node(sibling, hash) : .node(hash, sibling)
        }
        return path.isAtRoot && hash == root
    }
}

/// Proves that a tree is a prefix of a larger one (RFC 6962 §2.1.2).
public struct ConsistencyProof: Hashable, Sendable {
    public let oldSize: Int
    public let newSize: Int
    public let hashes: [MerkleHash]

    public init(oldSize: Int, newSize: Int, hashes: [MerkleHash]) {
        self.oldSize = oldSize
        self.newSize = newSize
        self.hashes = hashes
    }

    /// Whether the old tree's leaves are a prefix of the new tree's (RFC 9162 §2.1.4.2). For trees of equal size, and
    /// for an empty old tree, the proof has no hashes.
    public func verify(oldRoot: MerkleHash, newRoot: MerkleHash) -> Bool {
        guard oldSize >= 0, oldSize <= newSize else { return false }
        if oldSize == newSize { return hashes.isEmpty && oldRoot == newRoot }
        if oldSize == 0 { return hashes.isEmpty && oldRoot == .empty }

        var path = MerklePath(node: oldSize - 1, last: newSize - 1)
        path.skip { $0 & 1 == 1 }
        var rest = hashes[...]
        // The root of a perfect old tree is a node of the new tree, so the proof does not repeat it.
        guard let first = path.node == 0 ? oldRoot : rest.popFirst() else { return false }
        var (old, new) = (first, first)
        for hash in rest {
            guard let isLeft = path.rise() else { return false }
            if isLeft { old = .node(hash, old) }
            new = isLeft ? .node(hash, new) : .node(new, hash)
        }
        return path.isAtRoot && old == oldRoot && new == newRoot
    }
}

/// The way from a node up to the root, as in the algorithms of RFC 9162 §2.1.3.2 and §2.1.4.2.
private struct MerklePath {
    /// The index of the node in its level.
    var node: Int
    /// The index of the last node in this level.
    var last: Int

    var isAtRoot: Bool { last == 0 }

    /// Moves up while the index of the node is as wanted.
    mutating func skip(while isWanted: (Int) -> Bool) {
        while isWanted(node) { (node, last) = (node >> 1, last >> 1) }
    }

    /// Moves up past the next node that has a sibling.
    ///
    /// - Returns: whether that sibling is on the left; nil at the root.
    mutating func rise() -> Bool? {
        guard last > 0 else { return nil }
        let isLeft = node & 1 == 1 || node == last
        if isLeft { skip { $0 & 1 == 0 && $0 > 0 } }
        (node, last) = (node >> 1, last >> 1)
        return isLeft
    }
}

/// Computes proofs (RFC 6962 §2.1.1, §2.1.2) from the hashes of perfect subtrees. It requests only subtrees inside the
/// tree. Those of one proof never overlap.
public struct MerkleProver<Failure: Error> {
    private let hash: (Subtree) throws(Failure) -> MerkleHash

    /// - Parameter hash: returns the root of a perfect subtree.
    public init(_ hash: @escaping (Subtree) throws(Failure) -> MerkleHash) {
        self.hash = hash
    }

    /// Nil unless the tree has this leaf.
    public func inclusion(of index: Int, size: Int) throws(Failure) -> InclusionProof? {
        guard index >= 0, index < size else { return nil }
        var hashes: [MerkleHash] = []
        try path(to: index, in: 0..<size, &hashes)
        return InclusionProof(index: index, size: size, hashes: hashes)
    }

    /// Nil if a size is negative, or if the old one is larger than the new one.
    public func consistency(from old: Int, to new: Int) throws(Failure) -> ConsistencyProof? {
        guard old >= 0, old <= new else { return nil }
        var hashes: [MerkleHash] = []
        if old > 0 { try difference(from: old, in: 0..<new, isOldRootKnown: true, &hashes) }
        return ConsistencyProof(oldSize: old, newSize: new, hashes: hashes)
    }

    /// `PATH(m, D[n])`, from the leaf's sibling up.
    private func path(to index: Int, in leaves: Range<Int>, _ hashes: inout [MerkleHash]) throws(Failure) {
        guard leaves.count > 1 else { return }
        let middle = Self.middle(of: leaves)
        if index < middle {
            try path(to: index, in: leaves.lowerBound..<middle, &hashes)
            hashes.append(try root(of: middle..<leaves.upperBound))
        } else {
            try path(to: index, in: middle..<leaves.upperBound, &hashes)
            hashes.append(try root(of: leaves.lowerBound..<middle))
        }
    }

    /// `SUBPROOF(m, D[n], b)`, where `old` counts from the tree's first leaf.
    private func difference(
        from old: Int, in leaves: Range<Int>, isOldRootKnown: Bool, _ hashes: inout [MerkleHash]
    ) throws(Failure) {
        guard old < leaves.upperBound else {
            if !isOldRootKnown { hashes.append(try root(of: leaves)) }
            return
        }
        let middle = Self.middle(of: leaves)
        if old <= middle {
            try difference(from: old, in: leaves.lowerBound..<middle, isOldRootKnown: isOldRootKnown, &hashes)
            hashes.append(try root(of: middle..<leaves.upperBound))
        } else {
            try difference(from: old, in: middle..<leaves.upperBound, isOldRootKnown: false, &hashes)
            hashes.append(try root(of: leaves.lowerBound..<middle))
        }
    }

    /// `leaves` must begin at a multiple of the largest power of two that is not greater than their count.
    private func root(of leaves: Range<Int>) throws(Failure) -> MerkleHash {
        let level = Int.bitWidth - 1 - leaves.count.leadingZeroBitCount
        let left = try hash(Subtree(level: level, index: leaves.lowerBound >> level))
        let middle = leaves.lowerBound + 1 << level
        return middle == leaves.upperBound ? left : .node(left, try root(of: middle..<leaves.upperBound))
    }

    /// The split point: after the largest power of two of leaves that is less than their count.
    private static func middle(of leaves: Range<Int>) -> Int {
        leaves.lowerBound + 1 << (Int.bitWidth - 1 - (leaves.count - 1).leadingZeroBitCount)
    }
}

/// The position of a perfect subtree in a tree.
public struct Subtree: Hashable, Sendable {
    /// The height of the subtree, which has 2^`level` leaves.
    public let level: Int
    /// The index among the subtrees of this level, from 0.
    public let index: Int

    public init(level: Int, index: Int) {
        self.level = level
        self.index = index
    }

    public var leaves: Range<Int> { index << level..<(index + 1) << level }
}
