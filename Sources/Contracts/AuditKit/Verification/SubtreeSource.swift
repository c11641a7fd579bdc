import TransparencyLog

/// The hashes of a log's perfect subtrees, from recorded segment roots, and below a segment from its entries.
final class SubtreeSource {
    private let reader: any AuditReader
    private let archive: AuditArchive
    private let roots: [[UInt8]]
    private let first: Int
    /// The segment read last, because a proof needs several subtrees of one segment.
    private var bodies: (segment: Int, entries: [[UInt8]])?

    init(_ reader: any AuditReader, _ archive: @escaping AuditArchive) throws(AuditProofError) {
        self.reader = reader
        self.archive = archive
        do throws(AuditStoreError) {
            roots = try reader.segmentRoots()
            first = try reader.firstIndex()
        } catch {
            throw .store(error)
        }
    }

    func body(of index: Int) throws(AuditProofError) -> [UInt8] {
        let entries = try bodies(of: index / AuditSegment.size)
        guard entries.indices.contains(index % AuditSegment.size) else { throw .missing(index: index) }
        return entries[index % AuditSegment.size]
    }

    func hash(_ subtree: Subtree) throws(AuditProofError) -> MerkleHash {
        if subtree.level == AuditSegment.height, subtree.index < roots.count,
            let root = MerkleHash(bytes: roots[subtree.index])
        {
            return root
        }
        if subtree.level > AuditSegment.height {
            let (level, index) = (subtree.level - 1, subtree.index * 2)
            let left = try hash(Subtree(level: level, index: index))
            return .node(left, try hash(Subtree(level: level, index: index + 1)))
        }
        let segment = subtree.leaves.lowerBound / AuditSegment.size
        let entries = try bodies(of: segment)
        let start = segment * AuditSegment.size
        guard subtree.leaves.upperBound - start <= entries.count else { throw .missing(index: start + entries.count) }
        return AppendOnlyTree(leaves: subtree.leaves.lazy.map { .leaf(entries[$0 - start]) }).root
    }

    /// The segment's entries, up to the first missing one.
    private func bodies(of segment: Int) throws(AuditProofError) -> [[UInt8]] {
        if let bodies, bodies.segment == segment { return bodies.entries }
        let range = AuditSegment.entries(of: segment)
        let entries: [[UInt8]]?
        do throws(AuditStoreError) {
            entries = range.upperBound <= first ? try archive(segment) : try stored(in: range)
        } catch {
            throw .store(error)
        }
        guard let entries else { throw .archived(range) }
        bodies = (segment, entries)
        return entries
    }

    private func stored(in range: Range<Int>) throws(AuditStoreError) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        try reader.entries(in: range) { (entry) throws(AuditStoreError) in
            guard entry.index == range.lowerBound + entries.count else { return false }
            entries.append(entry.body)
            return true
        }
        return entries
    }
}
