import Foundation
import SigningKitTesting
import StrictJSON
import Testing

/// Compares this reader with Foundation's `JSONDecoder`, on damaged texts and on random bytes.
@Suite("Comparison with Foundation's JSON reader")
struct DifferentialTests {
    @Test("both readers agree on accepted texts, and other refusals have a known reason")
    func damagedTexts() throws {
        var mutator = RequestMutator(seed: 0xD1FF, bodies: Self.texts.map { Array($0.utf8) })
        var accepted = 0
        for index in 0..<20_000 {
            let text = mutator.mutate(Array(Self.texts[index % Self.texts.count].utf8))
            if try compare(text) { accepted += 1 }
        }
        #expect(accepted > 1_000)
    }

    @Test("random bytes do not trap, and both readers agree on them")
    func randomBytes() throws {
        var generator = SplitMix64(seed: 0xB17E5)
        for _ in 0..<10_000 {
            let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? Self.alphabet.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
            }
            _ = try compare(text)
        }
    }

    /// - Returns: whether this reader accepts the text.
    private func compare(_ text: [UInt8]) throws -> Bool {
        let theirs = try? JSONDecoder().decode(JSONTree.self, from: Data(text))
        do {
            let ours = try JSONTree(JSONDocument(parsing: text, maximumDepth: 512).root)
            if let theirs, theirs != ours {
                Issue.record("\(String(decoding: text, as: UTF8.self)) is \(ours) here and \(theirs) there")
            }
            return true
        } catch let error as JSONSyntaxError {
            if theirs != nil, !isOurs(error, text) {
                Issue.record("\(String(decoding: text, as: UTF8.self)) is refused: \(error)")
            }
            return false
        }
    }

    /// Whether this reader refuses the text for a reason that Foundation does not have.
    private func isOurs(_ error: JSONSyntaxError, _ text: [UInt8]) -> Bool {
        switch error.reason {
        case .duplicateMember, .byteOrderMark, .loneSurrogate: true
        // Foundation accepts a comma after the last member or element, and NULs after the value.
        case .unexpected(let byte, _):
            Array("]}".utf8).contains(byte)
                && text[..<error.offset].last { !Array(" \t\r\n".utf8).contains($0) } == UInt8(ascii: ",")
        case .trailing: text[error.offset...].allSatisfy { $0 == 0 }
        case .empty, .truncated, .notUTF8, .controlCharacter, .tooDeep, .tooLong: false
        }
    }

    private static let alphabet = Array(#"{}[]:,"\ 0123456789-+.eEtrufalsn/bu"#.utf8)

    private static let texts = [
        #"{"productId":"com.example.app.monthly","offerIdentifier":"spring2026","transactionId":"70000123456789"}"#,
        #"[1,-2.5,3e2,4E-1,0,-0,9223372036854775807,0.1,123456789.987654321,true,false,null,"",{},[]]"#,
        #"{"a":{"b":{"c":[[[["\u00e9\ud83d\ude00\n\\\/é😀"]]]]}},"\u0061a":"x","":-1}"#,
        " [ { \"a\" : 1 } , { \"a\" : [ ] } ] ",
        #""just text""#,
        "-12.75e+3",
    ]
}
