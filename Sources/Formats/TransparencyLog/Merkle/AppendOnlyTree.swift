/// An append-only Merkle tree (RFC 6962 §2.1). It keeps only the roots of perfect subtrees, one per bit set in `size`.
public struct AppendOnlyTree: Sendable {
    /// The number of leaves.
    public private(set) var size = 0
    /// Sorted by size, the largest first.
    private var peaks: [MerkleHash] = []

    public init() {
        peaks.reserveCapacity(Int.bitWidth)
    }

    public init(leaves: some Sequence<MerkleHash>) {
        self.init()
        for leaf in leaves { append(leaf) }
    }

    public mutating func append(_ leaf: MerkleHash) { push(leaf, height: 0) }

    /// Appends 2^`height` leaves at once.
    ///
    /// - Returns: false, and appends nothing, unless the size is a multiple of 2^`height`.
    public mutating func append(perfectSubtree root: MerkleHash, height: Int) -> Bool {
        guard (0..<Int.bitWidth - 2).contains(height), size & (1 << height - 1) == 0, size <= Int.max - 1 << height
        else { return false }
        push(root, height: height)
        return true
    }

    /// Appends all leaves of another tree.
    ///
    /// - Returns: false, and appends nothing, if one of its perfect subtrees would be misaligned.
    public mutating func append(_ other: AppendOnlyTree) -> Bool {
        guard other.size > 0 else { return true }
        let highest = Int.bitWidth - 1 - other.size.leadingZeroBitCount
        guard size & (1 << highest - 1) == 0, size <= Int.max - other.size else { return false }
        var rest = other.size
        for peak in other.peaks {
            let height = Int.bitWidth - 1 - rest.leadingZeroBitCount
            push(peak, height: height)
            rest &= ~(1 << height)
        }
        return true
    }

    /// The hash of the whole tree. It computes one node less than there are bits set in the size.
    public var root: MerkleHash {
        guard var root = peaks.last else { return .empty }
        for peak in peaks.dropLast().reversed() { root = .node(peak, root) }
        return root
    }

    private mutating func push(_ subtree: MerkleHash, height: Int) {
        var subtree = subtree
        var carry = size >> height
        while carry & 1 == 1, let left = peaks.popLast() {
            subtree = .node(left, subtree)
            carry >>= 1
        }
        peaks.append(subtree)
        size += 1 << height
    }
}
