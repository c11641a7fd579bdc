import Testing
import TraceContext

/// Cases from https://www.w3.org/TR/trace-context-1/ and from its test suite.
@Suite("tracestate")
struct TracestateTests {
    static func kept(_ text: String) throws -> String? {
        try #require(TraceContext(traceparent: TraceparentTests.example, tracestate: text)).state
    }

    @Test(
        "a well-formed tracestate is kept unchanged",
        arguments: [
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "foo=1", "foo=1,bar=2", "foo=1 \t , \t bar=2, \t baz=3",
            "foo=1,,bar=2", "foo=1,", ",foo=1", "foo= 1", "fw529a3039@dt=FfFfFfFf", "0tenant@a=1", "foo=1,foo=1",
            "foo=!\"#$%&'()*+-./0123456789:;<>?@[\\]^_`{|}~", "z*/_-0=1",
            String(repeating: "z", count: 256) + "=1",
            String(repeating: "t", count: 241) + "@" + String(repeating: "v", count: 14) + "=1",
            "k=" + String(repeating: "v", count: 256),
            (1...32).map { "bar\($0)=1" }.joined(separator: ","),
        ])
    func kept(_ text: String) throws {
        #expect(try Self.kept(text) == text)
    }

    @Test("surrounding white space is not part of the tracestate")
    func trimmed() throws {
        #expect(try Self.kept(" \tfoo=1\t ") == "foo=1")
    }

    @Test(
        "a malformed tracestate is dropped, and the trace continues",
        arguments: [
            "", " ", ",", "foo", "foo=", "=1", "foo =1", "FOO=1", "foo.bar=1", "1foo=1", "foo=1=2",
            "foo@=1", "@foo=1", "foo@@bar=1", "foo@bar@baz=1", "foo@1bar=1", "foo@-bar=1", "foo=\u{7F}", "foo=b\u{E9}",
            "foo=1\n,bar=2",
            String(repeating: "z", count: 257) + "=1",
            String(repeating: "t", count: 242) + "@v=1",
            "t@" + String(repeating: "v", count: 15) + "=1",
            "k=" + String(repeating: "v", count: 257),
            (1...33).map { "bar\($0)=1" }.joined(separator: ","),
            // 513 characters; this program propagates at most 512
            "a=" + String(repeating: "v", count: 255) + ",b=" + String(repeating: "v", count: 253),
        ])
    func dropped(_ text: String) throws {
        #expect(try Self.kept(text) == nil)
    }

    @Test("a tracestate of 512 characters is kept")
    func longest() throws {
        let text = "a=" + String(repeating: "v", count: 255) + ",b=" + String(repeating: "v", count: 252)
        #expect(text.utf8.count == 512)
        #expect(try Self.kept(text) == text)
    }
}
