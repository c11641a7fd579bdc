import Crypto
import Foundation
import Testing
import TransparencyLog

@Suite("Cosignatures of witnesses")
struct CosignatureTests {
    private static let text = "example.com/log\n5\nqINS1GRFhWHwdkUeqLEoP4yEMkTBBzxBkGwGQlVlVcs=\n"

    @Test("A cosignature verifies with the witness' key, and only for its text and time")
    func cosign() throws {
        let key = try WitnessKey.generate(name: "witness.example.com/w1")
        let verifier = try NoteVerifier(key.verifier.text)
        let signature = try key.cosign(Self.text, at: 1_679_315_147)
        #expect(verifier.isWitness && verifier.made(signature))
        #expect(verifier.verify(signature.bytes, of: Self.text))
        #expect(!verifier.verify(signature.bytes, of: Self.text + "an extension\n"))
        #expect(Cosignature(signature.bytes)?.time == 1_679_315_147)
        var later = signature.bytes
        later[7] += 1
        #expect(!verifier.verify(later, of: Self.text))
    }

    @Test("The signed message and the key ID are those of C2SP tlog-cosignature")
    func format() throws {
        let key = try WitnessKey.generate(name: "witness.example.com/w1")
        let material = try #require(key.verifier.text.split(separator: "+", maxSplits: 2).last)
        let bytes = try #require(Data(base64Encoded: String(material)))
        #expect(bytes.first == 4)
        let publicKey = try Curve25519.Signing.PublicKey(rawRepresentation: bytes.dropFirst())
        let signature = try key.cosign(Self.text, at: 1_679_315_147)
        let message = "cosignature/v1\ntime 1679315147\n" + Self.text
        #expect(publicKey.isValidSignature(signature.bytes[8...], for: Array(message.utf8)))
        let hash = SHA256.hash(data: Array("witness.example.com/w1\n".utf8) + Array(bytes))
        #expect(hash.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } == key.verifier.keyID)
    }

    @Test("Impossible times and lengths make no cosignature", arguments: [0, UInt64(1) << 63, UInt64.max])
    func impossible(_ time: UInt64) throws {
        let bytes = withUnsafeBytes(of: time.bigEndian) { Array($0) } + [UInt8](repeating: 0, count: 64)
        #expect(Cosignature(bytes) == nil)
        #expect(Cosignature(Array(bytes.dropLast())) == nil)
    }

    @Test("A key's text can be read again, and no description shows it")
    func secret() throws {
        let key = try WitnessKey.generate(name: "witness.example.com/w1")
        #expect(try WitnessKey(key.text).verifier.text == key.verifier.text)
        var dumped = ""
        dump(key, to: &dumped)
        let secret = try #require(key.text.split(separator: "+", maxSplits: 4).last)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains(secret)) }
        let log = try NoteSigner.generate(name: "example.com/log")
        #expect(throws: NoteError.unsupportedKey(type: 1)) { try WitnessKey(log.text) }
        #expect(throws: NoteError.unsupportedKey(type: 4)) { try NoteSigner(key.text) }
    }
}

@Suite("Requests for cosignatures")
struct AddCheckpointRequestTests {
    /// The example of C2SP tlog-witness.
    private static let example = """
        old 20852014
        PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
        jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
        5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
        /6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

        example.com/behind-the-sofa
        20852163
        CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
        — example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=

        """

    @Test("The specification's example is read, and written again byte for byte")
    func example() throws {
        let request = try #require(AddCheckpointRequest(parsing: Array(Self.example.utf8)))
        #expect(request.oldSize == 20_852_014 && request.hashes.count == 4 && request.note.signatures.count == 2)
        #expect(request.text == Self.example)
    }

    @Test("A request without a proof is read")
    func noProof() throws {
        let note = try #require(AddCheckpointRequest(parsing: Array(Self.example.utf8))).note
        let request = AddCheckpointRequest(oldSize: 0, hashes: [], note: note)
        #expect(AddCheckpointRequest(parsing: Array(request.text.utf8)) == request)
    }

    @Test("No shortened request is read")
    func shortened() {
        let bytes = Array(Self.example.utf8)
        for end in 0..<bytes.count {
            // The end after the first signature is a request with one signature.
            let isWhole = bytes[..<end].last == UInt8(ascii: "\n") && bytes[end...].starts(with: "—".utf8)
            let hasSignature = String(decoding: bytes[..<end], as: UTF8.self).contains("—")
            guard !(isWhole && hasSignature) else { continue }
            #expect(AddCheckpointRequest(parsing: Array(bytes[..<end])) == nil)
        }
    }
}

@Suite("Policies of witnesses")
struct WitnessPolicyTests {
    private let keys: [NoteVerifier]
    private let log: NoteVerifier

    init() throws {
        keys = try (0..<6).map { try WitnessKey.generate(name: "w.example/\($0)").verifier }
        log = try NoteSigner.generate(name: "example.com/log").verifier
    }

    /// `$0` to `$5` stand for keys of witnesses, `$LOG` for one of a log.
    private func read(_ text: String) throws(WitnessPolicyError) -> WitnessPolicy {
        var text = text.replacing("$LOG", with: log.text)
        for (index, key) in keys.enumerated() { text = text.replacing("$\(index)", with: key.text) }
        return try WitnessPolicy(parsing: Array(text.utf8))
    }

    private static let groups = """
        # two organisations
        log $LOG https://log.example.com/
        witness X1 $0
        \twitness  X2\t$1 https://x2.example.com
        witness X3 $2
        group X-witnesses 2 X1 X2 X3

        witness Y1 $3
        witness Y2 $4
        witness Y3 $5
        group Y-witnesses any Y1 Y2 Y3

        group X-and-Y all X-witnesses Y-witnesses
        quorum X-and-Y
        """

    @Test(
        "The quorum of the specification's example needs two of X and one of Y",
        arguments: [
            ([0, 1, 3], true), ([0, 2, 5], true), ([0, 1, 2, 3, 4, 5], true), ([0, 1, 2], false), ([3, 4, 5], false),
            ([0, 3], false), ([], false), ([0, 0, 3], false),
        ])
    func quorum(_ signers: [Int], _ isMet: Bool) throws {
        let policy = try read(Self.groups)
        #expect(policy.isMet(by: signers.map { keys[$0] }) == isMet)
        #expect(policy.logs.map(\.text) == [log.text])
        #expect(policy.witnesses.map(\.url) == [nil, "https://x2.example.com", nil, nil, nil, nil])
    }

    @Test("One witness, all, any and a number")
    func forms() throws {
        let (first, second) = ([keys[0]], Array(keys[0...1]))
        #expect(try read("witness a $0\nquorum a").isMet(by: first))
        #expect(try !read("witness a $0\nquorum a").isMet(by: [log]))
        for (word, alone) in [("all", false), ("any", true), ("1", true), ("2", false)] {
            let policy = try read("witness a $0\nwitness b $1\ngroup g \(word) a b\nquorum g\n")
            #expect(policy.isMet(by: first) == alone && policy.isMet(by: second))
        }
        let none = try read("quorum none")
        #expect(none.needsNone && none.isMet(by: []))
    }

    @Test("A witness with an ML-DSA-44 key never counts, and the others do")
    func unsupported() throws {
        let key = try #require(keys.first).text.split(separator: "+", maxSplits: 2)
        var material = try #require(Data(base64Encoded: String(key[2])))
        material[0] = 6
        let other = "\(key[0])+\(key[1])+\(material.base64EncodedString())"
        let policy = try read("witness a \(other)\nwitness b $1\ngroup g any a b\nquorum g\n")
        #expect(policy.isMet(by: [keys[1]]) && !policy.isMet(by: [keys[0]]))
        #expect(try !read("witness a \(other)\nquorum a\n").isMet(by: keys))
    }

    @Test("Names are octets, so that a Kelvin sign is not a K")
    func octets() throws {
        #expect(throws: WitnessPolicyError.self) { try self.read("witness K $0\nquorum \u{212A}") }
        let bytes = Array("witness ".utf8) + [0xff] + Array(" \(keys[0].text)\nquorum ".utf8) + [0xff]
        #expect(try WitnessPolicy(parsing: bytes).isMet(by: [keys[0]]))
    }

    @Test(
        "Every violation of the format is refused, with its line",
        arguments: [
            ("", "has no quorum line"), ("witness a $0", "has no quorum line"),
            ("quorum a", "Line 1: No line before this one defines a"),
            ("quorum a\nwitness a $0", "Line 1: No line before this one defines a"),
            ("witness a $0\nquorum a\nquorum a", "Line 3: There is a second quorum line"),
            ("witness a $0\nwitness a $1\nquorum a", "Line 2: a is defined already"),
            ("witness none $0\nquorum none", "Line 1: none is defined already, or reserved"),
            ("witness a $0\nwitness b $0\nquorum a", "Line 2: Another line of the same kind has this key"),
            ("log $LOG\nlog $LOG\nquorum none", "Line 2: Another line of the same kind has this key"),
            ("witness a $LOG\nquorum a", "Line 1: This is not the key of a witness"),
            ("log $0\nquorum none", "Line 1: This is the key of a witness (type 4), not of a log"),
            ("witness a x\nquorum a", "Line 1: The key is not a name"),
            ("witness a PRIVATE+KEY+x\nquorum a", "Line 1: This is a private key"),
            ("witness a $0\ngroup g 0 a\nquorum g", "Line 2: Give all, any, or a number from 1 to 1"),
            ("witness a $0\ngroup g 2 a\nquorum g", "Line 2: Give all, any, or a number from 1 to 1"),
            ("witness a $0\ngroup g -1 a\nquorum g", "Line 2: Give all, any, or a number from 1 to 1"),
            ("witness a $0\ngroup g 01 a\nquorum g", "Line 2: Give all, any, or a number from 1 to 1"),
            ("witness a $0\ngroup g any a a\nquorum g", "Line 2: a is a member already"),
            ("witness a $0\ngroup g any a\ngroup h any a\nquorum g", "Line 3: a is a member already"),
            ("group g any g\nquorum g", "Line 1: No line before this one defines g"),
            ("group g any none\nquorum g", "Line 1: No line before this one defines none"),
            ("group g any\nquorum g", "Line 1: The form is: group NAME"),
            ("witness a\nquorum a", "Line 1: The form is: witness NAME KEY [URL]"),
            ("log\nquorum none", "Line 1: The form is: log KEY [URL]"),
            ("witness a $0\nquorum a b", "Line 2: The form is: quorum NAME"),
            ("Quorum none", "Line 1: This line begins with another word"),
            ("quorum none\r\n", "Line 1: It has a control character"),
            ("# \u{7f}\nquorum none", "Line 1: It has a control character"),
        ])
    func refused(_ text: String, _ sentence: String) {
        let error = #expect(throws: WitnessPolicyError.self) { try self.read(text) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    @Test("A policy that is too long is refused")
    func limits() {
        let lines = (0..<2000).map { "group g\($0) any x" }.joined(separator: "\n")
        #expect(throws: WitnessPolicyError.self) { try self.read(lines) }
        let spaces = String(repeating: " ", count: WitnessPolicy.maximumSize)
        #expect(throws: WitnessPolicyError.self) { try self.read("quorum none\n\(spaces)") }
    }
}
