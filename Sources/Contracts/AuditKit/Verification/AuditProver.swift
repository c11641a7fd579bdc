import TransparencyLog

/// Makes proofs from a log. It verifies each proof before it returns it.
public struct AuditProver {
    private let reader: any AuditReader
    private let source: SubtreeSource

    public init(
        _ reader: any AuditReader, archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil }
    ) throws(AuditProofError) {
        self.reader = reader
        source = try SubtreeSource(reader, archive)
    }

    /// The head, or the kept checkpoint of a size.
    public func checkpoint(size: Int? = nil) throws(AuditProofError) -> SignedTreeHead {
        do throws(AuditStoreError) {
            let head = try reader.head()
            if let head, size == nil || size == head.size { return head }
            if let kept = try reader.checkpoints().first(where: { $0.size == size }) { return kept }
        } catch {
            throw .store(error)
        }
        throw .noCheckpoint(size: size)
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
        let entry = try source.body(of: index)
        let proof = try MerkleProver(source.hash).inclusion(of: index, size: checkpoint.size)
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
        let proof = try MerkleProver(source.hash).consistency(from: old.size, to: new.size)
        guard let proof, proof.verify(oldRoot: old.root, newRoot: new.root) else { throw .unfit(size: new.size) }
        return ConsistencyProofDocument(old: oldNote, new: newNote, hashes: proof.hashes)
    }

    private static func read(_ head: SignedTreeHead) throws(AuditProofError) -> (SignedNote, Checkpoint) {
        do throws(NoteError) {
            let note = try SignedNote(parsing: head.note)
            return (note, try Checkpoint(parsing: note.text))
        } catch {
            throw .note(error)
        }
    }
}
