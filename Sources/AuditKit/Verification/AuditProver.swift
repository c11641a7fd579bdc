import TransparencyLog

/// Makes proofs from a log, and hands out none that does not hold.
public struct AuditProver {
    private let reader: any AuditReader
    private let source: SubtreeSource

    /// - Parameter archive: where archived segments can be had.
    public init(
        _ reader: any AuditReader, archive: @escaping AuditArchive = { _ throws(AuditStoreError) in nil }
    ) throws(AuditProofError) {
        self.reader = reader
        source = try SubtreeSource(reader, archive)
    }

    /// The head, or the checkpoint that is kept for a size.
    public func checkpoint(size: Int? = nil) throws(AuditProofError) -> AuditHead {
        do throws(AuditStoreError) {
            let head = try reader.head()
            if let head, size == nil || size == head.size { return head }
            if let kept = try reader.checkpoints().first(where: { $0.size == size }) { return kept }
        } catch {
            throw .store(error)
        }
        throw .noCheckpoint(size: size)
    }

    /// The proof with the first of some checkpoints that it holds for: what somebody else put among them does not stand in the
    /// way of the right one.
    ///
    /// - Parameter heads: of one size.
    public static func first<Proof>(
        _ heads: [AuditHead], _ prove: (AuditHead) throws(AuditProofError) -> Proof
    ) throws(AuditProofError) -> Proof {
        for head in heads.dropLast() {
            do throws(AuditProofError) { return try prove(head) } catch { continue }
        }
        guard let last = heads.last else { throw .noCheckpoint(size: nil) }
        return try prove(last)
    }

    /// That an entry is in the log which a checkpoint covers.
    public func inclusion(of index: Int, in checkpoint: AuditHead) throws(AuditProofError) -> EntryProof {
        let (note, checkpoint) = try Self.read(checkpoint)
        guard index >= 0, index < checkpoint.size else { throw .outside(index: index, size: checkpoint.size) }
        let entry = try source.body(of: index)
        let proof = try MerkleProver(source.hash).inclusion(of: index, size: checkpoint.size)
        guard let proof, proof.verify(leaf: .leaf(entry), root: checkpoint.root) else {
            throw .unfit(size: checkpoint.size)
        }
        return EntryProof(entry: entry, index: index, hashes: proof.hashes, note: note)
    }

    /// That the log which one checkpoint covers is the beginning of that which a later one covers.
    public func consistency(from old: AuditHead, to new: AuditHead) throws(AuditProofError) -> GrowthProof {
        let ((oldNote, old), (newNote, new)) = (try Self.read(old), try Self.read(new))
        guard old.size <= new.size else { throw .wrongOrder(old: old.size, new: new.size) }
        let proof = try MerkleProver(source.hash).consistency(from: old.size, to: new.size)
        guard let proof, proof.verify(oldRoot: old.root, newRoot: new.root) else { throw .unfit(size: new.size) }
        return GrowthProof(old: oldNote, new: newNote, hashes: proof.hashes)
    }

    private static func read(_ head: AuditHead) throws(AuditProofError) -> (SignedNote, Checkpoint) {
        do throws(NoteError) {
            let note = try SignedNote(parsing: head.note)
            return (note, try Checkpoint(parsing: note.text))
        } catch {
            throw .note(error)
        }
    }
}
