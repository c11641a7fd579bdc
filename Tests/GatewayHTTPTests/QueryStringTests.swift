import Testing

@testable import GatewayHTTP

@Suite("Query parameters")
struct QueryStringTests {
    @Test(
        "Only the bytes & and = separate parameters, also beside characters of several bytes",
        arguments: [
            ("a=1&é=5", "é", "5"), ("é=12&b=2", "b", "2"), ("a=\u{301}x&b=2", "a", "\u{301}x"),
            ("a=1&\u{301}=7", "\u{301}", "7"), ("a=b=c", "a", "b=c"), ("a", "a", ""), ("a=+%2B", "a", " +"),
        ])
    func separators(_ query: String, _ name: String, _ value: String) throws {
        #expect(try QueryString(query)[name] == value)
    }

    @Test(
        "An unknown parameter is refused with the known ones",
        arguments: [
            ([], "this path has no parameters."), (["a"], "the only one is a."),
            (["a", "b"], "the parameters are a, b."),
        ])
    func unknown(_ known: [String], _ end: String) throws {
        let problem = #expect(throws: Problem.self) { try QueryString("x=1", allowing: known) }
        #expect(problem?.detail == "The parameter \"x\" is not known here; \(end)")
    }

    @Test("The HTTP date is in the format of RFC 9110")
    func date() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
