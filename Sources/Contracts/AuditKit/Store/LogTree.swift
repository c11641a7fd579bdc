public import TransparencyLog

/// The Merkle tree of a log. It computes the root of each segment that closes.
public struct LogTree: Sendable {
    /// The tree over the closed segments.
    private var closed = AppendOnlyTree()
    /// The tree over the entries after them.
    private var open = AppendOnlyTree()

    public init() {}

    /// The number of entries.
    public var size: Int { closed.size + open.size }

    public var root: MerkleHash {
        var whole = closed
        // Always true: `open` is smaller than a segment.
        _ = whole.append(open)
        return whole.root
    }

    /// - Returns: the segment that the leaf completes.
    public mutating func append(_ leaf: MerkleHash) -> (number: Int, root: MerkleHash)? {
        open.append(leaf)
        guard open.size == AuditSegment.size else { return nil }
        let root = open.root
        defer { append(segment: root) }
        return (closed.size / AuditSegment.size, root)
    }

    /// Appends a whole segment by its root. The tree must end at a segment boundary.
    public mutating func append(segment root: MerkleHash) {
        // Always true: `closed` holds whole segments only.
        _ = closed.append(perfectSubtree: root, height: AuditSegment.height)
        open = AppendOnlyTree()
    }
}
