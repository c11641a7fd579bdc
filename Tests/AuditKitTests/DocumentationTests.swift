import AuditKit
import Foundation
import Testing
import TransparencyLog

/// The files next to docs/audit-example/check.py. A Python program made them, not this code.
@Suite("The examples in docs/audit-example")
struct DocumentationTests {
    @Test("The documented inclusion proof is valid")
    func inclusion() throws {
        let file = try Self.file("entry.tlog-proof")
        let proof = try InclusionProofDocument(parsing: file)
        #expect(Array(proof.text.utf8) == file)
        let checkpoint = try proof.check(with: [try Self.verifier()])
        #expect((proof.index, checkpoint.size) == (1, 3))
        let fields = try #require(EntryFields(proof.entry))
        #expect(fields.kind == "signature")
        #expect(fields.texts("products") == ["com.example.app.monthly"])
    }

    @Test("The documented consistency proof is valid")
    func consistency() throws {
        let file = try Self.file("growth.txt")
        let proof = try ConsistencyProofDocument(parsing: file)
        #expect(Array(proof.text.utf8) == file)
        let (old, new) = try proof.check(with: [try Self.verifier()])
        #expect((old.size, new.size) == (2, 3))
    }

    @Test("The documented checkpoint is valid")
    func checkpoint() throws {
        let note = try SignedNote(parsing: try Self.file("checkpoint.txt"))
        #expect(try Checkpoint(note, signedByLogWith: [try Self.verifier()]).size == 3)
    }

    @Test("docs/audit-format.md shows the figures of the examples")
    func page() throws {
        let page = String(decoding: try Self.file("../audit-format.md"), as: UTF8.self)
        let proof = try InclusionProofDocument(parsing: try Self.file("entry.tlog-proof"))
        let note = String(decoding: try Self.file("checkpoint.txt"), as: UTF8.self)
        let leaf = MerkleHash.leaf(proof.entry)
        let mark = StoredEntry.mark(of: leaf, at: 1)
        let figures =
            [note, try Self.verifier().text, String(decoding: proof.entry, as: UTF8.self), String(mark, radix: 16)]
            + (proof.hashes + [leaf]).map { Self.hexadecimal($0.bytes) }
        for figure in figures { #expect(page.contains(figure), "the page lacks \(figure)") }
        let signer = try NoteSigner(
            #require(page.split(separator: "\n").first { $0.hasPrefix("PRIVATE+KEY+") }).description)
        #expect(try signer.sign(SignedNote(parsing: note).text).description == note)
    }

    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/audit-example")

    private static func file(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appending(path: name)))
    }

    private static func verifier() throws -> NoteVerifier {
        try NoteVerifier(String(decoding: try file("log.pub"), as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
