import Encodings
public import TransparencyLog

/// Proves that the log of a checkpoint contains an entry. A verifier needs only the log's public key besides. The text
/// is a C2SP tlog-proof, with the entry in its line `extra`.
public struct InclusionProofDocument: Hashable, Sendable {
    fileprivate static let header = "c2sp.org/tlog-proof@v1"

    /// Canonical JSON.
    public let entry: [UInt8]
    public let index: Int
    /// From the leaf's sibling to the root's child.
    public let hashes: [MerkleHash]
    /// The checkpoint, signed.
    public let note: SignedNote
}

extension InclusionProofDocument {
    public init(parsing bytes: [UInt8]) throws(AuditProofError) {
        let (lines, notes) = try ProofText.split(bytes, notes: 1, header: Self.header)
        guard let entry = lines.first.flatMap({ ProofText.value(of: "extra ", in: $0) }),
            let body = Base64.standard.decode(entry)
        else { throw .malformed("it has no line `extra` with the entry in Base64") }
        guard let number = lines.dropFirst().first.flatMap({ ProofText.value(of: "index ", in: $0) }),
            let index = DecimalNumber.parse(number)
        else { throw .malformed("it has no line `index` with a number in decimal digits") }
        self.entry = body
        self.index = index
        hashes = try ProofText.hashes(lines.dropFirst(2))
        note = notes[0]
    }

    public var text: String {
        let entry = Base64.standard.text(entry)
        return "\(Self.header)\nextra \(entry)\nindex \(index)\n\(ProofText.lines(of: hashes))\n\(note)"
    }

    /// Verifies the signatures, and that the entry leads to the checkpoint's root.
    ///
    /// - Parameters:
    ///   - verifiers: must include the log's key, whose name is the log's origin.
    ///   - policy: the witnesses that must have cosigned the checkpoint; nil to ignore witnesses.
    /// - Returns: the checkpoint, which is now verified to contain the entry.
    @discardableResult
    public func check(
        with verifiers: [NoteVerifier], policy: WitnessPolicy? = nil
    ) throws(AuditProofError) -> Checkpoint {
        let checkpoint = try ProofText.checkpoint(note, verifiers, policy)
        guard index < checkpoint.size else { throw .outside(index: index, size: checkpoint.size) }
        let proof = InclusionProof(index: index, size: checkpoint.size, hashes: hashes)
        guard proof.verify(leaf: .leaf(entry), root: checkpoint.root) else {
            throw .wrongInclusion(index: index, size: checkpoint.size)
        }
        return checkpoint
    }
}

/// Proves that the log of one checkpoint is a prefix of the log of a later one.
public struct ConsistencyProofDocument: Hashable, Sendable {
    fileprivate static let header = "privyseal/consistency-proof@v1"

    public let old: SignedNote
    public let new: SignedNote
    /// RFC 6962 §2.1.2.
    public let hashes: [MerkleHash]
}

extension ConsistencyProofDocument {
    public init(parsing bytes: [UInt8]) throws(AuditProofError) {
        let (lines, notes) = try ProofText.split(bytes, notes: 2, header: Self.header)
        hashes = try ProofText.hashes(lines)
        old = notes[0]
        new = notes[1]
    }

    public var text: String { "\(Self.header)\n\(ProofText.lines(of: hashes))\n\(old)\n\(new)" }

    /// Verifies the signatures, and that the old log is a prefix of the new one.
    ///
    /// - Parameters:
    ///   - verifiers: must include the log's key, whose name is the log's origin.
    ///   - policy: the witnesses that must have cosigned the new checkpoint; nil to ignore witnesses.
    @discardableResult
    public func check(
        with verifiers: [NoteVerifier], policy: WitnessPolicy? = nil
    ) throws(AuditProofError) -> (old: Checkpoint, new: Checkpoint) {
        let old = try ProofText.checkpoint(old, verifiers, nil)
        let new = try ProofText.checkpoint(new, verifiers, policy)
        guard old.origin.utf8.elementsEqual(new.origin.utf8) else { throw .otherLog(old.origin, new.origin) }
        guard old.size <= new.size else { throw .wrongOrder(old: old.size, new: new.size) }
        let proof = ConsistencyProof(oldSize: old.size, newSize: new.size, hashes: hashes)
        guard proof.verify(oldRoot: old.root, newRoot: new.root) else {
            throw .wrongConsistency(old: old.size, new: new.size)
        }
        return (old, new)
    }
}

/// The common text format of both proofs: a header line, further lines, and checkpoint notes after empty lines.
enum ProofText {
    /// - Returns: the lines after the header, and `count` notes.
    static func split(
        _ bytes: [UInt8], notes count: Int, header: String
    ) throws(AuditProofError) -> (lines: ArraySlice<ArraySlice<UInt8>>, notes: [SignedNote]) {
        guard bytes.count <= SignedNote.maximumSize * (count + 1), String(validating: bytes, as: UTF8.self) != nil
        else {
            throw .malformed("it is not UTF-8")
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.first?.elementsEqual(header.utf8) == true else {
            throw .malformed("its first line is not the header of a proof")
        }
        // A checkpoint's text has no empty line, so each note is two parts. The final newline makes an empty last line.
        let parts = lines.dropLast().split(separator: [], omittingEmptySubsequences: false)
        guard lines.last?.isEmpty == true, parts.count == 1 + 2 * count else {
            throw .malformed("it has too few or too many parts (empty lines separate the parts)")
        }
        var notes: [SignedNote] = []
        for number in 0..<count {
            let note = parts[1 + 2 * number] + [[]] + parts[2 + 2 * number]
            do throws(NoteError) {
                notes.append(try SignedNote(parsing: note.flatMap { $0 + [UInt8(ascii: "\n")] }))
            } catch {
                throw .note(error)
            }
        }
        return (parts[0].dropFirst(), notes)
    }

    /// The rest of a line after its first word.
    static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        name.withUTF8Buffer { name in line.starts(with: name) ? line.dropFirst(name.count) : nil }
    }

    static func hashes(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(AuditProofError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        for line in lines {
            guard let hash = Base64.standard.decode(line).flatMap({ MerkleHash(bytes: $0) }) else {
                throw .malformed("one of its hashes is not the Base64 of 32 bytes")
            }
            hashes.append(hash)
        }
        return hashes
    }

    static func lines(of hashes: [MerkleHash]) -> String {
        hashes.map { Base64.standard.text($0.bytes) + "\n" }.joined()
    }

    static func checkpoint(
        _ note: SignedNote, _ verifiers: [NoteVerifier], _ policy: WitnessPolicy?
    ) throws(AuditProofError) -> Checkpoint {
        do throws(NoteError) {
            let checkpoint = try Checkpoint(note, signedByLogWith: verifiers)
            guard let policy else { return checkpoint }
            if policy.isMet(by: try policy.signers(of: note)) { return checkpoint }
        } catch {
            throw .note(error)
        }
        throw .unwitnessed
    }
}
