import Testing

@testable import GatewayHTTP

@Suite("Request IDs")
struct RequestIDTests {
    @Test("Each new request ID is unique and acceptable")
    func new() {
        let ids = (0..<1000).map { _ in RequestID.next() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { RequestID.accept($0) && $0.utf8.count == 28 })
    }

    @Test(
        "The gateway accepts a caller's request ID that is safe in a log",
        arguments: ["a", "~!#$%", String(repeating: "x", count: 128)])
    func accepted(_ text: String) {
        #expect(RequestID.accept(text))
    }

    @Test(
        "The gateway refuses a caller's request ID that a log could misrepresent",
        arguments: ["", "a b", "a\"b", "a\\b", "a\nb", "ä", String(repeating: "x", count: 129)])
    func refused(_ text: String) {
        #expect(!RequestID.accept(text))
    }
}
