import SigningKit
import StrictJSON
import Testing

@Suite("The rules for signed strings")
struct TextRuleTests {
    @Test("U+2063 is refused everywhere", arguments: ["\u{2063}", "a\u{2063}b", "a\u{2063}", "😀\u{2063}"])
    func separator(_ text: String) {
        for rule in [TextRule.identifier, .userName] {
            #expect { try rule.check(text) } throws: { "\($0)".contains("U+2063") }
        }
    }

    @Test("control characters are refused everywhere", arguments: Array(0x00...0x1F) + Array(0x7F...0x9F) as [UInt32])
    func controls(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        for rule in [TextRule.identifier, .userName] {
            #expect(throws: JSONReadError.self) { try rule.check("a\(Character(scalar))b") }
        }
    }

    @Test(
        "other invisible characters are refused in identifiers only",
        arguments: [
            0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,
            0x2060,
            0x2061, 0x2062, 0x2064, 0x2066, 0x2069, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0x1D173, 0xE0001, 0xE0041,
            0xE0100,
        ] as [UInt32])
    func invisible(_ value: UInt32) throws {
        let text = "a\(Character(try #require(Unicode.Scalar(value))))b"
        #expect { try TextRule.identifier.check(text) } throws: {
            "\($0)".contains("U+\(String(value, radix: 16, uppercase: true))") || value < 0x1000
        }
        #expect(throws: Never.self) { try TextRule.userName.check(text) }
    }

    @Test(
        "visible characters of all scripts are accepted",
        arguments: ["com.example.app", "a b", "~!@#$%^&*()", "日本語", "é", "e\u{301}", "नि", "😀"])
    func visible(_ text: String) {
        #expect(throws: Never.self) { try TextRule.identifier.check(text) }
        #expect(throws: Never.self) { try TextRule.userName.check(text) }
    }

    /// Every character with Unicode's property White_Space, except control characters.
    static let whiteSpace: [UInt32] =
        [0x20, 0xA0, 0x1680] + Array(0x2000...0x200A) + [0x2028, 0x2029, 0x202F, 0x205F, 0x3000]

    @Test("white space at either end is refused in every text", arguments: whiteSpace)
    func whiteSpaceAtEnds(_ value: UInt32) throws {
        let space = String(Character(try #require(Unicode.Scalar(value))))
        for rule in [TextRule.identifier, .userName] {
            for text in ["p\(space)", "\(space)p", space, "\(space)\(space)", "\(space)é"] {
                #expect(throws: JSONReadError.self, "\(rule) U+\(String(value, radix: 16))") { try rule.check(text) }
            }
        }
    }

    @Test("white space inside an identifier is refused, except for the ordinary space", arguments: whiteSpace)
    func whiteSpaceInside(_ value: UInt32) throws {
        let text = "a\(Character(try #require(Unicode.Scalar(value))))b"
        if value == 0x20 {
            #expect(throws: Never.self) { try TextRule.identifier.check(text) }
        } else {
            #expect(throws: JSONReadError.self) { try TextRule.identifier.check(text) }
        }
        #expect(throws: Never.self) { try TextRule.userName.check(text) }
    }

    @Test("an error about white space names the character")
    func whiteSpaceNaming() {
        #expect(throws: JSONReadError(.invalid("ends with white space (U+00A0); remove it"))) {
            try TextRule.identifier.check("p\u{A0}")
        }
        #expect(throws: JSONReadError(.invalid("begins with white space (U+0020); remove it"))) {
            try TextRule.userName.check(" p")
        }
        #expect(throws: JSONReadError(.invalid("holds the white space U+2003 at character 2; remove it"))) {
            try TextRule.identifier.check("a\u{2003}b")
        }
    }

    @Test("an identifier has 1 to 255 bytes of UTF-8, a user name 0 to 255")
    func lengths() {
        #expect(throws: JSONReadError.self) { try TextRule.identifier.check("") }
        #expect(throws: Never.self) { try TextRule.userName.check("") }
        for rule in [TextRule.identifier, .userName] {
            #expect(throws: Never.self) { try rule.check(String(repeating: "a", count: 255)) }
            #expect(throws: JSONReadError.self) { try rule.check(String(repeating: "a", count: 256)) }
            #expect(throws: Never.self) { try rule.check(String(repeating: "é", count: 127)) }
            #expect(throws: JSONReadError.self) { try rule.check(String(repeating: "é", count: 128)) }
        }
    }

    @Test("an error names the character and its position")
    func naming() {
        #expect(throws: JSONReadError(.invalid("holds the invisible character U+200B at character 3; remove it"))) {
            try TextRule.identifier.check("ab\u{200B}")
        }
        #expect(throws: JSONReadError(.invalid("is empty; it must hold at least one character"))) {
            try TextRule.identifier.check("")
        }
    }
}
