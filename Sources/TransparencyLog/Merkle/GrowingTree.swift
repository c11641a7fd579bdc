/// A Merkle tree (RFC 6962 §2.1) that only grows, of which nothing is kept but the roots of its perfect subtrees: one for
/// each bit that is set in its size.
public struct GrowingTree: Sendable {
    /// Leaves.
    public private(set) var size = 0
    /// The largest first.
    private var peaks: [MerkleHash] = []

    public init() {
        peaks.reserveCapacity(Int.bitWidth)
    }

    public mutating func append(_ leaf: MerkleHash) { push(leaf, height: 0) }

    /// Appends 2^`height` leaves at once.
    ///
    /// - Returns: false, with nothing appended, when such a subtree cannot stand here: the size is not a multiple of its
    ///   leaves.
    public mutating func append(perfectSubtree root: MerkleHash, height: Int) -> Bool {
        guard (0..<Int.bitWidth - 2).contains(height), size & (1 << height - 1) == 0, size <= Int.max - 1 << height
        else { return false }
        push(root, height: height)
        return true
    }

    /// Appends all leaves of another tree.
    ///
    /// - Returns: false, with nothing appended, when one of its perfect subtrees cannot stand here.
    public mutating func append(_ other: GrowingTree) -> Bool {
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

    /// The hash of the whole tree: as many nodes are computed as bits are set in the size, less one.
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
