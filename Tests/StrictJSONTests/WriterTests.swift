import Foundation
import SigningKitTesting
import StrictJSON
import Testing

@Suite("The JSON writer")
struct WriterTests {
    @Test("the writer writes members in order without white space")
    func members() {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("s", "a")
            writer.member("i", Int64.min)
            writer.member("u", UInt64.max)
            writer.member("b", false)
            writer.member("x", unescaped: Array("YQ==".utf8))
            writer.name("a")
            writer.array { writer in
                writer.null()
                writer.integer(0)
                writer.object { _ in }
                writer.array { _ in }
                writer.raw("1e5".utf8)
                writer.boolean(true)
            }
            writer.member("z", "")
        }
        let text = """
            {"s":"a","i":-9223372036854775808,"u":18446744073709551615,"b":false,"x":"YQ==",\
            "a":[null,0,{},[],1e5,true],"z":""}
            """
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test("the writer escapes only what RFC 8259 requires")
    func escapes() {
        #expect(
            written("\"\\/\u{8}\u{9}\u{A}\u{C}\u{D}\u{0}\u{1F}\u{7F}é😀\u{2028}")
                == #""\"\\/\b\t\n\f\r\u0000\u001f"# + "\u{7F}é😀\u{2028}\"")
    }

    @Test("every character is unchanged after writing and reading")
    func roundTrip() throws {
        for value in UInt32(0)...0x2FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "a\(Character(scalar))b"
            let read = try JSONDocument(parsing: Array(written(text).utf8)).root.string()
            if Array(read.utf8) != Array(text.utf8) {
                Issue.record("U+\(String(value, radix: 16)) comes back as \(read)")
            }
        }
    }

    @Test("random texts are unchanged after writing and reading, also by Foundation")
    func randomTexts() throws {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 0...40, using: &generator)).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(in: 0...0x10FFFF, using: &generator) >> UInt32.random(in: 0...16, using: &generator))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let json = Array(written(text).utf8)
            #expect(try Array(JSONDocument(parsing: json).root.string().utf8) == Array(text.utf8))
            #expect(try Array(JSONDecoder().decode(String.self, from: Data(json)).utf8) == Array(text.utf8))
        }
    }

    private func written(_ text: String) -> String {
        var writer = JSONWriter(capacity: 0)
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
