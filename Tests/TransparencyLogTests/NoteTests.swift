import Crypto
import Testing
import TransparencyLog

@Suite("Signed notes")
struct NoteTests {
    @Test("A note of another implementation verifies with its key")
    func vectors() throws {
        for vector in try Vectors.notes().notes {
            let note = try SignedNote(parsing: vector.note)
            let verifier = try NoteVerifier(vector.key)
            #expect(try note.verify(with: [verifier]).map(\.text) == [vector.key])
            #expect(note.description == vector.note)
        }
    }

    @Test("The signer matches Go's note module byte for byte")
    func signer() throws {
        let vectors = try Vectors.notes()
        let signer = try NoteSigner(vectors.signer)
        let first = try #require(vectors.notes.first)
        #expect(signer.text == vectors.signer)
        #expect(signer.verifier.text == first.key)
        #expect(try signer.sign(SignedNote(parsing: first.note).text).description == first.note)
    }

    @Test("A new key signs a note, and its texts can be read again")
    func generated() throws {
        let signer = try NoteSigner.generate(name: "example.com/log")
        let again = try NoteSigner(signer.text)
        let note = try again.sign("a text\n")
        #expect(try note.verify(with: [NoteVerifier(signer.verifier.text)]).count == 1)
    }

    @Test("The signer does not show its key in any description")
    func secret() throws {
        let signer = try NoteSigner.generate(name: "example.com/log")
        var dumped = ""
        dump(signer, to: &dumped)
        let secret = try #require(signer.text.split(separator: "+", maxSplits: 4).last)
        for text in ["\(signer)", String(reflecting: signer), dumped] { #expect(!text.contains(secret)) }
    }

    @Test("A P-256 signature verifies with its key and no other")
    func ecdsa() throws {
        let key = P256.Signing.PrivateKey()
        let verifier = try NoteVerifier(name: "example.com/token", p256: key.publicKey)
        #expect(try NoteVerifier(verifier.text).keyID == verifier.keyID)
        let digest = Array(SHA256.hash(data: key.publicKey.derRepresentation))
        #expect(verifier.keyID == digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })

        let signature = try key.signature(for: Array("a text\n".utf8)).derRepresentation
        let line = try NoteSignature(name: verifier.name, keyID: verifier.keyID, bytes: Array(signature))
        let note = try NoteSigner.generate(name: "example.com/log").sign("a text\n").adding(line)
        let read = try SignedNote(parsing: note.description)
        #expect(try read.verify(with: [NoteVerifier(verifier.text)]).map(\.name) == ["example.com/token"])

        let changed = try SignedNote(text: "another text\n", signatures: note.signatures)
        #expect(throws: NoteError.wrongSignature(name: "example.com/token")) { try changed.verify(with: [verifier]) }
    }

    @Test("verify refuses a wrong signature of a known key beside a right one of another")
    func oneWrong() throws {
        let (first, second) = (try NoteSigner.generate(name: "a"), try NoteSigner.generate(name: "b"))
        let note = try first.sign("text\n")
        let other = try second.sign("other\n").signatures[0]
        let both = try note.adding(other)
        #expect(throws: NoteError.wrongSignature(name: "b")) {
            try both.verify(with: [first.verifier, second.verifier])
        }
        #expect(try both.verify(with: [first.verifier]).count == 1)
    }

    @Test("verify refuses a note that no known key signed")
    func unknown() throws {
        let note = try NoteSigner.generate(name: "a").sign("text\n")
        // A key with the same name is still a different key.
        let other = try NoteSigner.generate(name: "a").verifier
        #expect(throws: NoteError.unknownSigners(["a"])) { try note.verify(with: [other]) }
        #expect(throws: NoteError.unknownSigners(["a"])) { try note.verify(with: []) }
    }

    @Test("The text of a note may have empty lines, and the last empty line ends it")
    func emptyLines() throws {
        let note = try NoteSigner.generate(name: "a").sign("one\n\ntwo\n")
        #expect(try SignedNote(parsing: note.description).text == "one\n\ntwo\n")
    }

    @Test(
        "The parser refuses a malformed note",
        arguments: [
            ("", NoteError.missingNewline), ("text\n", .unsigned), ("text\n\n", .unsigned), ("text", .missingNewline),
            ("text\n\n— a AAAAAAA=", .missingNewline), ("text\n\n- a AAAAAAA=\n", .malformedSignature(1)),
            ("text\n\n— a AAAA\n", .malformedSignature(1)), ("text\n\n— a AAAAAA==\n", .malformedSignature(1)),
            ("text\n\n—  AAAAAAA=\n", .malformedSignature(1)), ("text\n\n— a+b AAAAAAA=\n", .malformedSignature(1)),
            ("text\n\n— a b AAAAAAA=\n", .malformedSignature(1)),
            ("text\n\n— a\u{A0}b AAAAAAA=\n", .malformedSignature(1)),
            ("text\n\n— a AAAAAAA=\n— a AAAAAA\n", .malformedSignature(2)), ("te\txt\n\n— a AAAAAAA=\n", .notText),
            ("te\r\n\n— a AAAAAAA=\n", .notText), ("te\0\n\n— a AAAAAAA=\n", .notText),
            ("text\n\n— a AAAAAAA= \n", .malformedSignature(1)),
        ])
    func malformed(_ text: String, _ error: NoteError) {
        #expect(throws: error) { try SignedNote(parsing: text) }
    }

    @Test("The parser refuses a note that is not UTF-8")
    func notUTF8() {
        #expect(throws: NoteError.notText) {
            try SignedNote(parsing: [0xFF, 0x0A, 0x0A] + Array("— a AAAAAAA=\n".utf8))
        }
    }

    @Test("A note can have at most a hundred signatures")
    func tooMany() throws {
        let line = "— a AAAAAAA=\n"
        #expect(try SignedNote(parsing: "t\n\n" + String(repeating: line, count: 100)).signatures.count == 100)
        #expect(throws: NoteError.tooLarge) { try SignedNote(parsing: "t\n\n" + String(repeating: line, count: 101)) }
        #expect(throws: NoteError.tooLarge) {
            try SignedNote(parsing: String(repeating: "t", count: 1 << 20) + "\n\n" + line)
        }
    }

    @Test(
        "The parser refuses a malformed verifier key",
        arguments: [
            ("", NoteError.malformedKey), ("a+b", .malformedKey),
            ("PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .otherKeyID(name: "PeterNeumann")),
            ("PeterNeumanN+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .otherKeyID(name: "PeterNeumanN")),
            ("PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .malformedKey),
            ("PeterNeumann+c74f20a+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .malformedKey),
            ("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10Q=", .malformedKey),
            ("Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .invalidName),
            ("+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .invalidName),
            ("PeterNeumann+c74f20a3+Bhpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", .unsupportedKey(type: 6)),
            ("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n", .malformedKey),
        ])
    func keys(_ text: String, _ error: NoteError) {
        #expect(throws: error) { try NoteVerifier(text) }
    }

    @Test("The signer refuses a malformed key, and the error does not repeat it")
    func signers() throws {
        let text = try NoteSigner.generate(name: "a").text
        for wrong in ["", "PUBLIC" + text, String(text.dropLast(4)), text.replacing("+a+", with: "+b+"), text + "\n"] {
            #expect {
                try NoteSigner(wrong)
            } throws: { error in
                error is NoteError && !"\(error)".contains(text.suffix(20))
            }
        }
    }

    private static func scan(_ bytes: some Sequence<UInt8>) -> (notes: [SignedNote], NoteScanner) {
        var (notes, scanner) = ([SignedNote](), NoteScanner())
        scanner.read(Array(bytes)[...]) { notes.append($0) }
        return (notes, scanner)
    }

    @Test("A note list has an empty line after each note")
    func list() throws {
        let signer = try NoteSigner.generate(name: "a")
        let notes = try (1...3).map { try signer.sign("a\n\($0)\n") }
        let text = notes.map { NoteList.text(of: $0) }.joined()
        let (found, scanner) = Self.scan(text.utf8)
        #expect(found == notes)
        #expect(scanner.remainder.isEmpty && scanner.damaged == 0)

        // If a crash truncates the last note, the others remain readable.
        for count in 1..<NoteList.text(of: notes[2]).utf8.count {
            let (found, scanner) = Self.scan(text.utf8.dropLast(count))
            #expect(found == Array(notes.prefix(2)))
            #expect(!scanner.remainder.isEmpty)
        }

        // A note that is appended after a truncated note does not damage the others.
        for count in 1..<NoteList.text(of: notes[1]).utf8.count {
            let torn = (notes.prefix(2).map { NoteList.text(of: $0) }.joined()).utf8.dropLast(count)
            let mended = Array(torn) + Array((NoteList.separator(after: torn) + NoteList.text(of: notes[2])).utf8)
            let (found, scanner) = Self.scan(mended)
            #expect(found.contains(notes[0]) && found.contains(notes[2]))
            #expect(scanner.remainder.isEmpty)
        }
        let (none, damaged) = Self.scan(text.replacing("—", with: "-").utf8)
        #expect(none.isEmpty && damaged.damaged > 0)
    }

    @Test("The scanner finds the same notes and damage in pieces of any size")
    func pieces() throws {
        let signer = try NoteSigner.generate(name: "a")
        let notes = try (1...5).map { try signer.sign("a\n\($0)\n") }
        let texts = notes.map { NoteList.text(of: $0) }
        let file = Array(
            ("\n\n" + texts[0] + "torn\n\n\n" + texts[1] + "\n\n" + texts[2] + "— a AAAA\n\n" + texts[3]).utf8)
        let end = Array("a\n6\n\n— a AAA".utf8)
        for size in 1...file.count {
            var scanner = NoteScanner()
            var found: [SignedNote] = []
            var rest = (file + end)[...]
            while !rest.isEmpty {
                scanner.read(rest.prefix(size)) { found.append($0) }
                rest = rest.dropFirst(size)
            }
            #expect(found == Array(notes.prefix(4)), "\(size)")
            #expect(scanner.damaged == 2 && scanner.remainder == end, "\(size)")
        }
    }

    @Test("The scanner limits its memory for input without a note")
    func endless() {
        var scanner = NoteScanner()
        for _ in 0..<5 { scanner.read([UInt8](repeating: 0x61, count: 1 << 20)[...]) { _ in Issue.record("a note") } }
        #expect(scanner.damaged > 0 && scanner.remainder.count <= 2 << 20)
    }
}
