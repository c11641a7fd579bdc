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

        var path = hashes[...]
        var (node, last) = (oldSize - 1, newSize - 1)
        while node & 1 == 1 {
            node >>= 1
            last >>= 1
        }
        // The root of a perfect old tree is a node of the new tree, so the proof does not repeat it.
        guard let first = node == 0 ? oldRoot : path.popFirst() else { return false }
        var (old, new) = (first, first)
        for hash in path {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                old = .node(hash, old)
                new = .node(hash, new)
                while node & 1 == 0, node > 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                new = .node(new, hash)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 && old == oldRoot && new == newRoot
    }
}
