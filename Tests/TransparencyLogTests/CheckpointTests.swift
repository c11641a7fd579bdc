import Testing
import TransparencyLog

@Suite("Checkpoints")
struct CheckpointTests {
    /// C2SP tlog-checkpoint.
    private let example = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"

    @Test("The example of C2SP is unchanged after reading and writing")
    func roundTrip() throws {
        let checkpoint = try Checkpoint(parsing: example)
        #expect(checkpoint.origin == "example.com/behind-the-sofa")
        #expect(checkpoint.size == 20_852_163)
        #expect(checkpoint.root.bytes.prefix(3) == [0x0A, 0xC5, 0x18])
        #expect(checkpoint.text == example)
    }

    @Test("A checkpoint keeps extension lines")
    func extensions() throws {
        let checkpoint = try Checkpoint(parsing: example + "one\ntwo 2\n")
        #expect(checkpoint.extensions == ["one", "two 2"])
        #expect(checkpoint.text == example + "one\ntwo 2\n")
    }

    @Test("The checkpoint of an empty log has the size 0")
    func empty() throws {
        let checkpoint = try Checkpoint(origin: "a", size: 0, root: .empty)
        #expect(checkpoint.text == "a\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n")
        #expect(try Checkpoint(parsing: checkpoint.text) == checkpoint)
    }

    @Test(
        "The parser refuses a checkpoint with an invalid line",
        arguments: [
            ("", NoteError.missingNewline), ("a\n1\n", .notCheckpoint(.lines)),
            ("\n1\n\(root)\n", .notCheckpoint(.origin)),
            ("a\n01\n\(root)\n", .notCheckpoint(.size)), ("a\n00\n\(root)\n", .notCheckpoint(.size)),
            ("a\n-1\n\(root)\n", .notCheckpoint(.size)), ("a\n+1\n\(root)\n", .notCheckpoint(.size)),
            ("a\n\n\(root)\n", .notCheckpoint(.size)), ("a\n1 \n\(root)\n", .notCheckpoint(.size)),
            ("a\n9223372036854775808\n\(root)\n", .notCheckpoint(.size)), ("a\n1\n\(root)", .missingNewline),
            ("a\n1\n\(root.dropLast())\n", .notCheckpoint(.root)), ("a\n1\nAAAA\n", .notCheckpoint(.root)),
            ("a\n1\n\(root)\n\n", .notCheckpoint(.extensions)), ("a\n1\n\n\(root)\n", .notCheckpoint(.root)),
        ])
    func malformed(_ text: String, _ error: NoteError) {
        #expect(throws: error) { try Checkpoint(parsing: text) }
    }

    static let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="

    @Test("The initialiser refuses an invalid origin, size or extension line")
    func unfit() throws {
        #expect(throws: NoteError.notCheckpoint(.origin)) { try Checkpoint(origin: "a\nb", size: 0, root: .empty) }
        #expect(throws: NoteError.notCheckpoint(.size)) { try Checkpoint(origin: "a", size: -1, root: .empty) }
        #expect(throws: NoteError.notCheckpoint(.extensions)) {
            try Checkpoint(origin: "a", size: 0, root: .empty, extensions: [""])
        }
    }

    @Test("A checkpoint belongs to the log only if the key of its origin signed it")
    func signedByLog() throws {
        let (log, recorder) = (try NoteSigner.generate(name: "log"), try NoteSigner.generate(name: "witness"))
        let text = try Checkpoint(origin: "log", size: 0, root: .empty).text
        let both = try log.sign(text).adding(try recorder.sign(text).signatures[0])
        let all = [log.verifier, recorder.verifier]
        #expect(try Checkpoint(both, signedByLogWith: all).size == 0)
        #expect(try Checkpoint(both, signedByLogWith: [log.verifier]).size == 0)
        #expect(throws: NoteError.notSignedByLog(origin: "log")) {
            try Checkpoint(both, signedByLogWith: [recorder.verifier])
        }
        #expect(throws: NoteError.notSignedByLog(origin: "log")) {
            try Checkpoint(try recorder.sign(text), signedByLogWith: all)
        }
    }
}
