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

    @Test("the distance counts insertions, deletions, substitutions and swaps")
    func distance() {
        #expect(Suggestion.distance("", "") == 0)
        #expect(Suggestion.distance("abc", "") == 3)
        #expect(Suggestion.distance("kitten", "sitting") == 3)
        #expect(Suggestion.distance("ab", "ba") == 1)
    }
}
