import StrictJSON
import Testing

@Suite("JSON syntax errors")
struct SyntaxErrorTests {
    @Test("an error states the fault and its byte offset", arguments: Self.faults)
    func reasons(_ text: String, _ reason: JSONSyntaxError.Reason, _ offset: Int) {
        #expect {
            try JSONDocument(parsing: Array(text.utf8))
        } throws: { error in
            (error as? JSONSyntaxError)?.reason == reason && (error as? JSONSyntaxError)?.offset == offset
        }
    }

    @Test("an error shows an unprintable byte as a number")
    func unprintable() {
        #expect { try JSONDocument(parsing: [0x22, 0x07, 0x22]) } throws: { "\($0)".contains("0x07") }
        #expect { try JSONDocument(parsing: Array("[1;2]".utf8)) } throws: { "\($0)".contains("';'") }
    }

    private static let faults: [(String, JSONSyntaxError.Reason, Int)] = [
        ("", .empty, 0),
        (" \n ", .empty, 3),
        (#"{"a":"#, .truncated, 5),
        (#"{"a":1}x"#, .trailing, 7),
        ("\u{FEFF}{}", .byteOrderMark, 0),
        ("\"a\u{1}\"", .controlCharacter(byte: 1), 2),
        (#"{"a":"\ud83d"}"#, .loneSurrogate, 6),
        (#"{"a":1,"b":2,"\u0061":3}"#, .duplicateMember("a"), 13),
        ("[1;2]", .unexpected(byte: UInt8(ascii: ";"), expected: "',' or ']'"), 2),
        ("{1:2}", .unexpected(byte: UInt8(ascii: "1"), expected: "a member's name in quotation marks"), 1),
        ("tru!", .unexpected(byte: UInt8(ascii: "!"), expected: "true"), 3),
        ("01", .trailing, 1),
    ]
}
