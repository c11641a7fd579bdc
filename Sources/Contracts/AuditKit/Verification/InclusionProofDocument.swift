import Encodings
public import TransparencyLog

/// Proves that the log of a checkpoint contains an entry. A verifier needs only the log's public key besides. The text
/// is a C2SP tlog-proof, with the entry in its line `extra`.
public struct InclusionProofDocument: Hashable, Sendable {
    private static let header = "c2sp.org/tlog-proof@v1"

    /// Canonical JSON.
    public let entry: [UInt8]
    public let index: Int
    /// From the leaf's sibling to the root's child.
    public let hashes: [MerkleHash]
    /// The checkpoint, signed.
    public let note: SignedNote

    public init(entry: [UInt8], index: Int, hashes: [MerkleHash], note: SignedNote) {
        self.entry = entry
        self.index = index
        self.hashes = hashes
        self.note = note
    }

    public init(parsing bytes: [UInt8]) throws(AuditProofError) {
        let (lines, notes) = try ProofText.split(bytes, notes: 1, header: Self.header)
        guard let entry = lines.first.flatMap({ ProofText.value(of: "extra ", in: $0) }),
            let body = Base64.standard.decode(entry)
        else { throw .malformed(.entry) }
        guard let number = lines.dropFirst().first.flatMap({ ProofText.value(of: "index ", in: $0) }),
            let index = DecimalNumber.parse(number)
        else { throw .malformed(.index) }
        self.entry = body
        self.index = index
        hashes = try ProofText.hashes(lines.dropFirst(2))
        note = notes[0]
    }

    public var text: String {
        let entry = String(decoding: Base64.standard.encode(entry), as: UTF8.self)
        return "\(Self.header)\nextra \(entry)\nindex \(index)\n\(ProofText.lines(of: hashes))\n\(note)"
    }

    /// Verifies the signatures, and that the entry leads to the checkpoint's root.
    ///
    /// - Parameter verifiers: must include the log's key, whose name is the log's origin.
    /// - Returns: the checkpoint, which is now verified to contain the entry.
    @discardableResult
    public func check(with verifiers: [NoteVerifier]) throws(AuditProofError) -> Checkpoint {
        let checkpoint = try ProofText.checkpoint(note, verifiers)
        guard index < checkpoint.size else { throw .outside(index: index, size: checkpoint.size) }
        let proof = InclusionProof(index: index, size: checkpoint.size, hashes: hashes)
        guard proof.verify(leaf: .leaf(entry), root: checkpoint.root) else {
            throw .wrongInclusion(index: index, size: checkpoint.size)
        }
        return checkpoint
    }
}
