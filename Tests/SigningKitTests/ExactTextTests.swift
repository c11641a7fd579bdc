import SigningKit
import Testing

@Suite("ExactText")
struct ExactTextTests {
    @Test(
        "texts that String considers equal are different",
        arguments: [("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{C5}", "\u{212B}"), (";", "\u{37E}")])
    func canonicalEquivalents(_ first: String, _ second: String) {
        #expect(first == second)
        #expect(ExactText(first) != ExactText(second))
        #expect(Set([ExactText(first), ExactText(second)]).count == 2)
        #expect(!first.hasSameBytes(as: second))
    }

    @Test("a word matches by its bytes only")
    func words() {
        enum Word: String { case kelvin = "K" }
        #expect(Word(exactly: "K") == .kelvin)
        #expect(Word(exactly: "\u{212A}") == nil)
        #expect(["K"].containsExactly("K"))
        #expect(!["K"].containsExactly("\u{212A}"))
    }

    @Test("equalsIgnoringASCIICase ignores the case of ASCII letters only")
    func asciiCase() {
        #expect("Chunked".utf8.equalsIgnoringASCIICase("chunKED"))
        #expect(!"chun\u{212A}ed".utf8.equalsIgnoringASCIICase("chunked"))
        #expect(!"[".utf8.equalsIgnoringASCIICase("{"))
        #expect(!"chunked ".utf8.equalsIgnoringASCIICase("chunked"))
    }

    @Test("texts with the same bytes are equal, however they were built", arguments: ["", "a", "日本", "e\u{301}"])
    func sameBytes(_ text: String) {
        let other = String(decoding: Array(text.utf8), as: UTF8.self)
        let part = ("x" + text).dropFirst()
        #expect(ExactText(text) == ExactText(other))
        #expect(Set([ExactText(text), ExactText(other), ExactText(String(part))]).count == 1)
    }
}
