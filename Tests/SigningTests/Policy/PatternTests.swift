import Signing
import SigningKit
import Testing

@Suite("Patterns")
struct PatternTests {
    @Test(
        "An asterisk matches any run of characters, and everything else matches itself",
        arguments: [
            ("com.example.app", "com.example.app", true), ("com.example.app", "com.example.App", false),
            ("com.example.app", "com.example.app2", false), ("com.example.app", "xcom.example.app", false),
            ("com.example.*", "com.example.", true), ("com.example.*", "com.example.a.b", true),
            ("com.example.*", "com.example", false), ("com.example.*", "com,example.a", false),
            ("*.monthly", ".monthly", true), ("*.monthly", "a.monthly.b", false),
            ("a*b", "ab", true), ("a*b", "a", false), ("ab*ba", "aba", false), ("ab*ba", "abba", true),
            ("*b*", "abc", true), ("*b*", "ac", false), ("a*b*c", "a-b-b-c", true), ("a*bc*c", "abc", false),
            ("*", "", true), ("*", "a", true), ("**", "", true), ("***a", "a", true), ("", "", true), ("", "a", false),
            ("?", "a", false), ("[a]", "a", false), (#"\*"#, "*", false), (".", "a", false), ("a*", "*", false),
            ("*é", "caf\u{E9}", true), ("*\u{E9}", "cafe\u{301}", false), ("\u{E9}", "e\u{301}", false),
            ("K", "\u{212A}", false),
        ] as [(Pattern, String, Bool)])
    func table(_ pattern: Pattern, _ text: String, _ isMatch: Bool) {
        #expect(pattern.matches(text) == isMatch)
    }

    @Test("Pattern agrees with a reference matcher on all short patterns and texts")
    func definition() {
        let texts = Self.words(of: ["a", "b"], upTo: 6)
        for pattern in Self.words(of: ["a", "b", "*"], upTo: 5) {
            let compiled = Pattern(pattern)
            for text in texts where compiled.matches(text) != Self.matches(pattern[...], text[...]) {
                Issue.record("\(pattern) and \(text)")
            }
        }
    }

    /// A search that starts again at each position would take hours.
    @Test("Matching takes linear time", .timeLimit(.minutes(1)))
    func linear() {
        let text = String(repeating: "a", count: 1 << 20)
        let almost = String(repeating: "a", count: 1 << 14) + "b"
        #expect(!Pattern("*\(almost)*").matches(text))
        #expect(!Pattern(String(repeating: "*aa", count: 1 << 12) + "*b").matches(text))
        #expect(Pattern(String(repeating: "*aa", count: 1 << 12) + "*").matches(text))
    }

    private static func matches(_ pattern: Substring, _ text: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return matches(pattern.dropFirst(), text) || (!text.isEmpty && matches(pattern, text.dropFirst()))
        }
        return text.first == first && matches(pattern.dropFirst(), text.dropFirst())
    }

    private static func words(of letters: [String], upTo length: Int) -> [String] {
        var (all, last) = ([""], [""])
        for _ in 0..<length {
            last = last.flatMap { word in letters.map { word + $0 } }
            all += last
        }
        return all
    }
}
