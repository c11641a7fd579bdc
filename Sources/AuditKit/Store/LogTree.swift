public import TransparencyLog

/// The tree of a log, with the roots of its segments as they are closed.
public struct LogTree: Sendable {
    /// Of the closed segments.
    private var closed = GrowingTree()
    /// Of the entries since.
    private var open = GrowingTree()

    public init() {}

    /// Entries.
    public var size: Int { closed.size + open.size }

    public var root: MerkleHash {
        var whole = closed
        // Always true: what is open is less than a segment.
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

    /// A whole segment, by its root; only behind whole segments.
    public mutating func append(segment root: MerkleHash) {
        // Always true: only segments come before it.
        _ = closed.append(perfectSubtree: root, height: AuditSegment.height)
        open = GrowingTree()
    }
}
