import Testing
import TraceContext

/// Cases from https://www.w3.org/TR/trace-context-1/ and from its test suite.
@Suite("traceparent")
struct TraceparentTests {
    static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("the standard's example is unchanged after reading and writing")
    func example() throws {
        let context = try #require(TraceContext(traceparent: Self.example))
        #expect(context.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(context.spanID.description == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.state == nil)
        #expect(context.traceparent == Self.example)
    }

    @Test("an unsampled trace stays unsampled")
    func unsampled() throws {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let context = try #require(TraceContext(traceparent: text))
        #expect(!context.isSampled)
        #expect(context.traceparent == text)
    }

    @Test("flags that Level 1 does not define are written as zero", arguments: ["02", "ff", "03", "fe"])
    func unknownFlags(_ flags: String) throws {
        let text = String(Self.example.dropLast(2)) + flags
        let context = try #require(TraceContext(traceparent: text))
        let isOdd = flags == "ff" || flags == "03"
        #expect(context.isSampled == isOdd)
        #expect(context.traceparent == String(Self.example.dropLast(2)) + (isOdd ? "01" : "00"))
    }

    @Test(
        "a higher version is read like version 00 and written as version 00",
        arguments: [
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
            "fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\u{E9}",
        ])
    func higherVersion(_ text: String) throws {
        let context = try #require(TraceContext(traceparent: text))
        #expect(context.traceparent == Self.example)
    }

    @Test(
        "an invalid traceparent is refused",
        arguments: [
            "", "00", "-", "00-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-001",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what-the-future-will-not-be-like",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-010",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "000-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ".0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "FE-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
            "00-4bf92f3577b34da6a3ce929d0e0e473.-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b.-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-.1",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            // Two fields, joined
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,"
                + "00-12345678901234567890123456789011-1234567890123456-01",
        ])
    func refused(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test("every wrong character is detected")
    func oneWrongCharacter() {
        for position in 0..<55 {
            var characters = Array(Self.example.utf8)
            characters[position] = UInt8(ascii: "G")
            #expect(TraceContext(traceparent: String(decoding: characters, as: UTF8.self)) == nil)
        }
    }
}

@Suite("Trace contexts")
struct TraceContextTests {
    @Test("a child has the trace ID, flags and state of its parent and its own span ID")
    func child() throws {
        let parent = try #require(TraceContext(traceparent: TraceparentTests.example, tracestate: "foo=1"))
        let child = parent.child()
        #expect(child.traceID == parent.traceID)
        #expect(child.isSampled == parent.isSampled)
        #expect(child.state == "foo=1")
        #expect(child.spanID != parent.spanID)
    }

    @Test("a fresh context has a new trace ID and is unchanged after writing and reading", arguments: [true, false])
    func fresh(_ sampled: Bool) {
        let contexts = (0..<200).map { _ in TraceContext.fresh { _ in sampled } }
        #expect(Set(contexts.map(\.traceID)).count == 200)
        #expect(Set(contexts.map(\.spanID)).count == 200)
        for context in contexts {
            #expect(context.isSampled == sampled)
            #expect(TraceContext(traceparent: context.traceparent) == context)
        }
    }

    @Test("the sampling decision gets the ID of the new trace")
    func decision() {
        var seen: TraceID?
        let context = TraceContext.fresh { id in
            seen = id
            return true
        }
        #expect(seen == context.traceID)
        #expect(context.isSampled)
    }

    @Test("an ID of zero is invalid, and a half-zero ID is valid")
    func zero() {
        #expect(TraceID(high: 0, low: 0) == nil)
        #expect(SpanID(0) == nil)
        #expect(TraceID(high: 0, low: 1)?.description == "00000000000000000000000000000001")
        #expect(SpanID(0x00F0_67AA_0BA9_02B7)?.description == "00f067aa0ba902b7")
    }
}
