public import TransparencyLog

/// Proves that the log of one checkpoint is a prefix of the log of a later one.
public struct ConsistencyProofDocument: Hashable, Sendable {
    private static let header = "privyseal/consistency-proof@v1"

    public let old: SignedNote
    public let new: SignedNote
    /// RFC 6962 §2.1.2.
    public let hashes: [MerkleHash]

    public init(old: SignedNote, new: SignedNote, hashes: [MerkleHash]) {
        self.old = old
        self.new = new
        self.hashes = hashes
    }

    public init(parsing bytes: [UInt8]) throws(AuditProofError) {
        let (lines, notes) = try ProofText.split(bytes, notes: 2, header: Self.header)
        hashes = try ProofText.hashes(lines)
        old = notes[0]
        new = notes[1]
    }

    public var text: String { "\(Self.header)\n\(ProofText.lines(of: hashes))\n\(old)\n\(new)" }

    /// Verifies the signatures, and that the old log is a prefix of the new one.
    ///
    /// - Parameter verifiers: must include the log's key, whose name is the log's origin.
    @discardableResult
    public func check(
        with verifiers: [NoteVerifier]
    ) throws(AuditProofError) -> (old: Checkpoint, new: Checkpoint) {
        let (old, new) = (try ProofText.checkpoint(old, verifiers), try ProofText.checkpoint(new, verifiers))
        guard old.origin.utf8.elementsEqual(new.origin.utf8) else { throw .otherLog(old.origin, new.origin) }
        guard old.size <= new.size else { throw .wrongOrder(old: old.size, new: new.size) }
        let proof = ConsistencyProof(oldSize: old.size, newSize: new.size, hashes: hashes)
        guard proof.verify(oldRoot: old.root, newRoot: new.root) else {
            throw .wrongConsistency(old: old.size, new: new.size)
        }
        return (old, new)
    }
}
