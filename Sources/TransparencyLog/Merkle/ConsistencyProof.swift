/// That a tree is the beginning of a larger one (RFC 6962 §2.1.2).
public struct ConsistencyProof: Hashable, Sendable {
    public let oldSize: Int
    public let newSize: Int
    public let hashes: [MerkleHash]

    public init(oldSize: Int, newSize: Int, hashes: [MerkleHash]) {
        self.oldSize = oldSize
        self.newSize = newSize
        self.hashes = hashes
    }

    /// Whether the tree with the new root begins with all leaves of the tree with the old one (RFC 9162 §2.1.4.2). For
    /// trees of one size, and for an old one without leaves, there is nothing to prove, and no hash.
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
        // A perfect old tree is a node of the new one: its root is not repeated in the proof.
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
