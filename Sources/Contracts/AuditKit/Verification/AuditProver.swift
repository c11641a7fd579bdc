public import TransparencyLog

/// Makes proofs from a log. It verifies each proof before it returns it.
public final class AuditProver {
    private let reader: any AuditReader
    private let archive: AuditArchive
    private let roots: [[UInt8]]
    private let first: Int
    /// The segment read last, because a proof needs several subtrees of one segment.
    private var bodies: (segment: Int, entries: [[UInt8]])?

    public init(
        _ reader: any AuditReader, archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil }
    ) throws(AuditProofError) {
        self.reader = reader
        self.archive = archive
        (roots, first) = try Self.stored { () throws(AuditStoreError) in
            (try reader.segmentRoots(), try reader.firstIndex())
        }
    }

    /// The head, or the kept checkpoint of a size.
    public func checkpoint(size: Int? = nil) throws(AuditProofError) -> SignedTreeHead {
        let found = try Self.stored { [reader] () throws(AuditStoreError) -> SignedTreeHead? in
            let head = try reader.head()
            if let head, size == nil || size == head.size { return head }
            return try reader.checkpoints().first { $0.size == size }
        }
        guard let found else { throw .noCheckpoint(size: size) }
        return found
    }

    /// The proof with the first checkpoint for which it holds, so that a forged one of the same size cannot prevent it.
    ///
    /// - Parameter heads: checkpoints of one size.
    public static func first<Proof>(
        _ heads: [SignedTreeHead], _ prove: (SignedTreeHead) throws(AuditProofError) -> Proof
    ) throws(AuditProofError) -> Proof {
        for head in heads.dropLast() {
            do throws(AuditProofError) { return try prove(head) } catch { continue }
        }
        guard let last = heads.last else { throw .noCheckpoint(size: nil) }
        return try prove(last)
    }

    /// Proves that the log of a checkpoint contains an entry.
    public func inclusion(of index: Int, in checkpoint: SignedTreeHead) throws(AuditProofError)
        -> InclusionProofDocument
    {
        let (note, checkpoint) = try Self.read(checkpoint)
        guard index >= 0, index < checkpoint.size else { throw .outside(index: index, size: checkpoint.size) }
        let entry = try body(of: index)
        let proof = try MerkleProver(hash).inclusion(of: index, size: checkpoint.size)
        guard let proof, proof.verify(leaf: .leaf(entry), root: checkpoint.root) else {
            throw .unfit(size: checkpoint.size)
        }
        return InclusionProofDocument(entry: entry, index: index, hashes: proof.hashes, note: note)
    }

    /// Proves that the log of an old checkpoint is a prefix of the log of a new one.
    public func consistency(from old: SignedTreeHead, to new: SignedTreeHead) throws(AuditProofError)
        -> ConsistencyProofDocument
    {
        let ((oldNote, old), (newNote, new)) = (try Self.read(old), try Self.read(new))
        guard old.size <= new.size else { throw .wrongOrder(old: old.size, new: new.size) }
        let proof = try MerkleProver(hash).consistency(from: old.size, to: new.size)
        guard let proof, proof.verify(oldRoot: old.root, newRoot: new.root) else { throw .unfit(size: new.size) }
        return ConsistencyProofDocument(old: oldNote, new: newNote, hashes: proof.hashes)
    }

    /// The hashes that prove that the log of a checkpoint begins with the log of `old` entries; none for 0.
    public func consistency(from old: Int, to new: Checkpoint) throws(AuditProofError) -> [MerkleHash] {
        guard old <= new.size else { throw .wrongOrder(old: old, new: new.size) }
        let proof = try MerkleProver(hash).consistency(from: old, to: new.size)
        guard let proof, proof.verify(oldRoot: try root(over: old), newRoot: new.root) else {
            throw .unfit(size: new.size)
        }
        return proof.hashes
    }

    /// The root over the first entries.
    private func root(over size: Int) throws(AuditProofError) -> MerkleHash {
        var tree = AppendOnlyTree()
        for level in (0..<Int.bitWidth - 2).reversed() where size & (1 << level) != 0 {
            let peak = try hash(Subtree(level: level, index: tree.size >> level))
            guard tree.append(perfectSubtree: peak, height: level) else { throw .unfit(size: size) }
        }
        return tree.root
    }

    private static func read(_ head: SignedTreeHead) throws(AuditProofError) -> (SignedNote, Checkpoint) {
        do throws(NoteError) {
            let note = try SignedNote(parsing: head.note)
            return (note, try Checkpoint(parsing: note.text))
        } catch {
            throw .note(error)
        }
    }

    // MARK: Hashes of perfect subtrees

    private func body(of index: Int) throws(AuditProofError) -> [UInt8] {
        let entries = try bodies(of: index / AuditSegment.size)
        guard entries.indices.contains(index % AuditSegment.size) else { throw .missing(index: index) }
        return entries[index % AuditSegment.size]
    }

    /// From recorded segment roots, and below a segment from its entries.
    private func hash(_ subtree: Subtree) throws(AuditProofError) -> MerkleHash {
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
        let entries = try Self.stored { () throws(AuditStoreError) in
            range.upperBound <= first ? try archive(segment) : try stored(in: range)
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

    private static func stored<Value>(
        _ read: () throws(AuditStoreError) -> Value
    ) throws(AuditProofError) -> Value {
        do throws(AuditStoreError) { return try read() } catch { throw .store(error) }
    }
}
