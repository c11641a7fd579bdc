import StrictJSON
import Testing

/// Texts that RFC 8259 allows or forbids, in the style of JSONTestSuite, and texts that only this reader refuses.
@Suite("Conformance of the JSON reader")
struct ConformanceTests {
    @Test("the reader accepts every text that RFC 8259 allows", arguments: Self.wellFormed)
    func reads(_ text: String) throws {
        let document = try JSONDocument(parsing: Array(text.utf8))
        let trimmed = text.drop { " \t\r\n".unicodeScalars.contains($0.unicodeScalars.first ?? "x") }
        #expect(trimmed.utf8.starts(with: document.root.rawBytes))
    }

    @Test("the reader refuses every text that RFC 8259 does not allow", arguments: Self.malformed)
    func refuses(_ text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONDocument(parsing: Array(text.utf8)) }
    }

    @Test("the reader refuses bytes that are not UTF-8 and gives their offset", arguments: Self.notUTF8)
    func refusesBytes(_ bytes: [UInt8]) {
        for (text, offset) in [(bytes.quoted, 1), ([0x7B] + bytes.quoted + Array(":1}".utf8), 2)] {
            #expect { try JSONDocument(parsing: text) } throws: {
                ($0 as? JSONSyntaxError)?.reason == .notUTF8 && ($0 as? JSONSyntaxError)?.offset == offset
            }
        }
    }

    @Test(
        "the reader refuses a text that is truncated at any byte",
        arguments: [#"{"a":[true,null,-1.5e+7,"\u00e9\ud83d\ude00é"],"b":{}}"#])
    func truncated(_ text: String) throws {
        let bytes = Array(text.utf8)
        for count in 1..<bytes.count {
            #expect(throws: JSONSyntaxError.self, "\(count) bytes") {
                try JSONDocument(parsing: Array(bytes[..<count]))
            }
        }
        #expect(throws: Never.self) { try JSONDocument(parsing: bytes) }
    }

    private static let wellFormed: [String] = [
        // Values
        "null", "true", "false", "0", "-0", "-1", "42", "1.5", "-0.0", "1e5", "1E+5", "1e-05",
        "123456789012345678901234567890",
        #""""#, #""a""#, "[]", "{}", "[[]]", #"{"":0}"#, #"{"a":{"b":[]}}"#,
        // White space: the four characters, anywhere between tokens
        " \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 , \t\r\n2 ] \t\r\n} \t\r\n",
        // Strings
        #""\"\\\/\b\f\n\r\t""#, #""\u0000\u001F\u007f\uFFFF""#, #""\ud83d\ude00""#, #""\uDBFF\uDFFF""#,
        "\"\u{7F}\u{80}\"",
        "\"\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}\"", "\"\u{2028}\u{2029}\u{FEFF}\"", #""\\u0041""#,
        // Names that differ
        #"{"a":1,"A":2,"a ":3,"\u0061\u0061":4}"#, "{\"é\":1,\"e\u{301}\":2}",
    ]

    private static let malformed: [String] = [
        // Nothing, or too much
        "", " ", "\n", "1 2", "{}{}", "[] ,", "nullnull", "{}\u{0}", "\u{0}", "1,",
        // Words
        "True", "nul", "NaN", "Infinity", "-Infinity", "undefined", "'a'", "a", "truee", "fals e",
        // Numbers
        "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e5", "1e", "1e+", "1e5.5", "0x10", "1_000", "1 000", "--1",
        "0e",
        "१", "1f", "²",
        // Arrays and objects
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1:2]", "[}", "{]", "{", "}", #"{"a""#, #"{"a":"#,
        #"{"a"}"#,
        #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a" 1}"#, #"{"a"::1}"#, #"{a:1}"#, "{'a':1}", "{1:1}",
        "{null:1}",
        #"{"a":1 "b":2}"#, #"{"a",1}"#, #"{"a":1;"b":2}"#, #"["a":1]"#,
        // White space that is none
        "\u{A0}1", "\u{C}1", "\u{B}1", "\u{2028}1", "[\u{3000}]", "\u{85}1", "/**/1", "1//", "#\n1",
        // Strings
        #"""#, #""a"#, #""a\"#, #""\""#, #""\x41""#, #""\'""#, #""\U0041""#, #""\a""#, #""\0""#, #""\ ""#, #""\u""#,
        #""\u004""#,
        #""\u004G""#, #""\u 041""#, #""\u+041""#, #""\u{41}""#, "\"\\\u{1F600}\"", "\"a\nb\"", "\"\t\"", "\"\u{0}\"",
        "\"\u{1F}\"",
        // Half a surrogate pair
        #""\ud83d""#, #""\ude00""#, #""\ud83d\ud83d""#, #""\ude00\ud83d""#, #""\ud83d\n""#, #""\ud83dx""#,
        #""\ud83d\u0041""#,
        #""\ud83d\ude0""#, #""\ud83d\""#,
        // A byte order mark
        "\u{FEFF}{}", "\u{FEFF}", "{\u{FEFF}}", "[1]\u{FEFF}",
        // Members that appear twice, however they are written
        #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":1}"#, #"{"\u0061":1,"a":1}"#,
        #"{"\u0061":1,"\u0061":2}"#,
        #"{"":1,"":2}"#, #"{"/":1,"\/":2}"#, #"{"😀":1,"\ud83d\ude00":2}"#, #"[{"x":{"a":1,"a":2}}]"#,
    ]

    private static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xFF], [0xFE], [0xC0], [0xC1, 0xBF], [0xF5, 0x80, 0x80, 0x80],
        // Overlong
        [0xC0, 0x80], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF],
        // Surrogates, and beyond U+10FFFF
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF4, 0x90, 0x80, 0x80],
        // Cut short
        [0xC3], [0xE2, 0x82], [0xE2], [0xF0, 0x9F, 0x98], [0xF0, 0x9F], [0xC3, 0x41], [0xE2, 0x82, 0x41],
        [0xF0, 0x9F, 0x98, 0x41],
    ]
}

extension [UInt8] {
    fileprivate var quoted: [UInt8] { [0x22] + self + [0x22] }
}
