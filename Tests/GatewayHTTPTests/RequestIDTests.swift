import Testing

@testable import GatewayHTTP

@Suite("Request IDs")
struct RequestIDTests {
    @Test("Each is new, and one that we would accept")
    func new() {
        let ids = (0..<1000).map { _ in RequestID.next() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { RequestID.accept($0) && $0.utf8.count == 28 })
    }

    @Test(
        "A caller's own is taken when it can stand in a log",
        arguments: ["a", "~!#$%", String(repeating: "x", count: 128)])
    func accepted(_ text: String) {
        #expect(RequestID.accept(text))
    }

    @Test(
        "What could be taken for something else in a log is not taken",
        arguments: ["", "a b", "a\"b", "a\\b", "a\nb", "ä", String(repeating: "x", count: 129)])
    func refused(_ text: String) {
        #expect(!RequestID.accept(text))
    }
}
