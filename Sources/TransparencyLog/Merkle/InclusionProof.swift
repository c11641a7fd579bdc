/// That a leaf is in a tree (RFC 6962 §2.1.1).
public struct InclusionProof: Hashable, Sendable {
    /// Of the leaf, from 0.
    public let index: Int
    /// Of the tree.
    public let size: Int
    /// From the leaf's sibling to the root's child.
    public let hashes: [MerkleHash]

    public init(index: Int, size: Int, hashes: [MerkleHash]) {
        self.index = index
        self.size = size
        self.hashes = hashes
    }

    /// Whether the leaf is at the index of the tree with this root (RFC 9162 §2.1.3.2).
    public func verify(leaf: MerkleHash, root: MerkleHash) -> Bool {
        guard index >= 0, index < size else { return false }
        var (node, last) = (index, size - 1)
        var hash = leaf
        for sibling in hashes {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                hash = .node(sibling, hash)
                while node & 1 == 0, node > 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                hash = .node(hash, sibling)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 && hash == root
    }
}
