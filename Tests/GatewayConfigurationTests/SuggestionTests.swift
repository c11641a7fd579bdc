import Testing

@testable import GatewayConfiguration

@Suite("Spelling suggestions")
struct SuggestionTests {
    @Test(
        "a misspelt word finds its nearest choice, and an unrelated word finds none",
        arguments: [
            ("bundleID", "bundleId"), ("bundelId", "bundleId"), ("bundle", "bundleId"), ("feature", "features"),
            ("feautres", "features"),
            ("", nil), ("issuer", nil), (String(repeating: "b", count: 100), nil),
        ])
    func nearest(_ word: String, _ expected: String?) {
        #expect(Suggestion.nearest(to: word, among: ["bundleId", "features", "apps"]) == expected)
    }

    @Test("a long list shows the first twenty choices and the number of the others")
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
