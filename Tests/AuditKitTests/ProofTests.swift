import Testing
import TransparencyLog

@testable import AuditKit

@Suite("Audit proofs")
struct ProofTests {
    private static let sizes = [1, 2, 1000, 4095, 4096, 4097, 9000, 12_288]

    @Test("An inclusion proof of any covered entry is valid after its text is parsed again")
    func inclusion() throws {
        let log = try SampleLog(size: 13_000, checkpoints: Self.sizes)
        let prover = try AuditProver(log.reader)
        var generator = SystemRandomNumberGenerator()
        for size in Self.sizes + [13_000] {
            let checkpoint = try prover.checkpoint(size: size)
            let random = (0..<5).map { _ in Int.random(in: 0..<size, using: &generator) }
            for index in [0, size - 1, size / 2] + random {
                let proof = try prover.inclusion(of: index, in: checkpoint)
                let read = try InclusionProofDocument(parsing: Array(proof.text.utf8))
                #expect(read == proof)
                #expect(read.entry == SampleLog.body(index))
                #expect(try read.check(with: log.verifiers).size == size)
            }
        }
    }

    @Test("A consistency proof between any two checkpoints is valid after its text is parsed again")
    func consistency() throws {
        let log = try SampleLog(size: 13_000, checkpoints: Self.sizes)
        let prover = try AuditProver(log.reader)
        for old in Self.sizes {
            for new in Self.sizes + [13_000] where old <= new {
                let proof = try prover.consistency(
                    from: try prover.checkpoint(size: old), to: try prover.checkpoint(size: new))
                let read = try ConsistencyProofDocument(parsing: Array(proof.text.utf8))
                #expect(read == proof)
                let (first, second) = try read.check(with: log.verifiers)
                #expect((first.size, second.size) == (old, new))
            }
        }
    }

    @Test("The prover uses the roots of archived segments and needs the archive for their entries")
    func archived() throws {
        var log = try SampleLog(size: 13_000, checkpoints: [1000, 4096, 9000])
        let bodies = try log.archive(segments: 2)
        let prover = try AuditProver(log.reader)
        let head = try prover.checkpoint()
        try prover.inclusion(of: 8192, in: head).check(with: log.verifiers)
        try prover.consistency(from: log.reader.kept[1], to: head).check(with: log.verifiers)
        #expect(throws: AuditProofError.archived(0..<4096)) { try prover.inclusion(of: 5, in: head) }
        #expect(throws: AuditProofError.archived(0..<4096)) {
            try prover.consistency(from: log.reader.kept[0], to: head)
        }

        let whole = try AuditProver(log.reader, archive: { segment throws(AuditStoreError) in bodies[segment] })
        #expect(try whole.inclusion(of: 5, in: head).entry == SampleLog.body(5))
        try whole.consistency(from: log.reader.kept[0], to: head).check(with: log.verifiers)
    }

    @Test("An inclusion proof is invalid for another entry, index, path or key")
    func wrongInclusion() throws {
        let log = try SampleLog(size: 100)
        let prover = try AuditProver(log.reader)
        let proof = try prover.inclusion(of: 42, in: try prover.checkpoint())
        func check(entry: [UInt8]? = nil, index: Int = 42, hashes: [MerkleHash]? = nil) throws {
            try InclusionProofDocument(
                entry: entry ?? proof.entry, index: index, hashes: hashes ?? proof.hashes, note: proof.note
            )
            .check(with: log.verifiers)
        }
        try check()
        #expect(throws: AuditProofError.wrongInclusion(index: 42, size: 100)) { try check(entry: SampleLog.body(43)) }
        #expect(throws: AuditProofError.wrongInclusion(index: 43, size: 100)) { try check(index: 43) }
        #expect(throws: AuditProofError.outside(index: 100, size: 100)) { try check(index: 100) }
        #expect(throws: AuditProofError.wrongInclusion(index: 42, size: 100)) {
            try check(hashes: proof.hashes.dropLast())
        }
        let other = try NoteSigner.generate(name: SampleLog.origin).verifier
        #expect(throws: AuditProofError.note(.unknownSigners([SampleLog.origin]))) { try proof.check(with: [other]) }
    }

    @Test("A consistency proof is invalid if one log is not a prefix of the other")
    func wrongConsistency() throws {
        let log = try SampleLog(size: 100, checkpoints: [10, 50])
        let prover = try AuditProver(log.reader)
        let proof = try prover.consistency(from: log.reader.kept[0], to: log.reader.kept[1])
        var fork = try SampleLog(size: 9, signer: log.signer)
        fork.append(Array("{}".utf8))
        let forked = try SignedNote(parsing: try fork.head().note)
        #expect(throws: AuditProofError.wrongConsistency(old: 10, new: 50)) {
            try ConsistencyProofDocument(old: forked, new: proof.new, hashes: proof.hashes).check(with: log.verifiers)
        }
        #expect(throws: AuditProofError.wrongOrder(old: 50, new: 10)) {
            try ConsistencyProofDocument(old: proof.new, new: proof.old, hashes: proof.hashes).check(
                with: log.verifiers)
        }
        #expect(throws: AuditProofError.wrongOrder(old: 50, new: 10)) {
            try prover.consistency(from: log.reader.kept[1], to: log.reader.kept[0])
        }
    }

    @Test("The prover refuses a changed log, a missing entry and a missing checkpoint")
    func unfit() throws {
        let log = try SampleLog(size: 5000)
        let head = try AuditProver(log.reader).checkpoint()
        #expect(throws: AuditProofError.outside(index: 5000, size: 5000)) {
            try AuditProver(log.reader).inclusion(of: 5000, in: head)
        }
        #expect(throws: AuditProofError.noCheckpoint(size: 3)) { try AuditProver(log.reader).checkpoint(size: 3) }
        log.reader.change(4500, to: [0x7B, 0x7D], isMarked: true)
        #expect(throws: AuditProofError.unfit(size: 5000)) { try AuditProver(log.reader).inclusion(of: 7, in: head) }
        log.reader.stored.remove(at: 4500)
        #expect(throws: AuditProofError.missing(index: 4500)) {
            try AuditProver(log.reader).inclusion(of: 4500, in: head)
        }
        #expect(throws: AuditProofError.noCheckpoint(size: nil)) {
            try AuditProver(try SampleLog(size: 0).reader).checkpoint()
        }
    }

    /// A replacement in a proof's text, and the flaw that it causes.
    @Test(
        "The parser refuses a malformed proof",
        arguments: [
            ("c2sp.org/tlog-proof@v1", "c2sp.org/tlog-proof@v2", "header"), ("extra ", "Extra ", "`extra`"),
            ("extra ", "extra  ", "`extra`"), ("index 4", "index 04", "`index`"), ("index 4", "index -4", "`index`"),
            ("index 4\n", "index 4\nAAAA\n", "hashes"), ("index 4\n", "index 4\n\n", "parts"),
            ("\n\n—", "\n—", "parts"),
        ])
    func malformed(_ part: String, _ other: String, _ flaw: String) throws {
        let log = try SampleLog(size: 7)
        let text = try AuditProver(log.reader).inclusion(of: 4, in: try log.head()).text
        #expect(text.contains(part))
        let error = #expect(throws: AuditProofError.self) {
            try InclusionProofDocument(parsing: Array(text.replacing(part, with: other).utf8))
        }
        #expect(error?.description.contains(flaw) == true)
    }

    @Test("The parser refuses a proof that is truncated at any byte")
    func cut() throws {
        let log = try SampleLog(size: 7, checkpoints: [3])
        let prover = try AuditProver(log.reader)
        let inclusion = Array(try prover.inclusion(of: 4, in: try log.head()).text.utf8)
        let consistency = Array(try prover.consistency(from: log.reader.kept[0], to: try log.head()).text.utf8)
        for count in inclusion.indices {
            #expect(throws: AuditProofError.self) {
                try InclusionProofDocument(parsing: Array(inclusion.prefix(count)))
            }
        }
        for count in consistency.indices {
            #expect(throws: AuditProofError.self) {
                try ConsistencyProofDocument(parsing: Array(consistency.prefix(count)))
            }
        }
    }

    @Test("The hashes between any two sizes prove the growth", arguments: [1, 2, 3, 4095, 4096, 4097, 8200, 9000])
    func growth(_ old: Int) throws {
        let log = try SampleLog(size: 9000)
        let head = try log.head()
        let new = try Checkpoint(parsing: try SignedNote(parsing: head.note).text)
        let prover = try AuditProver(log.reader)
        let hashes = try prover.consistency(from: old, to: new)
        let oldRoot = AppendOnlyTree(leaves: (0..<old).map { MerkleHash.leaf(SampleLog.body($0)) }).root
        #expect(
            ConsistencyProof(oldSize: old, newSize: 9000, hashes: hashes).verify(oldRoot: oldRoot, newRoot: new.root))
        let other = try Checkpoint(origin: SampleLog.origin, size: 9000, root: .empty)
        #expect(throws: AuditProofError.unfit(size: 9000)) { try prover.consistency(from: old, to: other) }
        #expect(throws: AuditProofError.wrongOrder(old: 9001, new: 9000)) {
            try prover.consistency(from: 9001, to: new)
        }
    }
}
