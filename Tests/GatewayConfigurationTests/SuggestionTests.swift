import Testing

@testable import GatewayConfiguration

@Suite("Suggestions")
struct SuggestionTests {
    @Test(
        "a slip finds its word, and another word does not",
        arguments: [
            ("bundleID", "bundleId"), ("bundelId", "bundleId"), ("bundle", "bundleId"), ("feature", "features"),
            ("feautres", "features"),
            ("", nil), ("issuer", nil), (String(repeating: "b", count: 100), nil),
        ])
    func nearest(_ word: String, _ expected: String?) {
        #expect(Suggestion.nearest(to: word, among: ["bundleId", "features", "apps"]) == expected)
    }

    @Test("of many choices the first twenty are listed, and how many more there are")
    func list() {
        #expect(Suggestion.list(["a", "b"]) == "a, b")
        let list = Suggestion.list((1...5000).map(String.init))
        #expect(list.hasPrefix("1, 2, 3,") && list.hasSuffix("19, 20 and 4980 more"))
    }

    @Test("the distance counts insertions, deletions, substitutions and swaps")
    func distance() {
        #expect(Suggestion.distance("", "") == 0)
        #expect(Suggestion.distance("abc", "") == 3)
        #expect(Suggestion.distance("kitten", "sitting") == 3)
        #expect(Suggestion.distance("ab", "ba") == 1)
    }
}
