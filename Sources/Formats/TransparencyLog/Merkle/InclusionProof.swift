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
