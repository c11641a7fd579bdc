import Synchronization
import Testing
import TraceContext
import Tracing

@testable import OTLPTracing

@Suite("The OTLP tracer")
struct TracerTests {
    static let sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    static let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    static func context(of traceparent: String) -> InstrumentationContext {
        var context = InstrumentationContext.topLevel
        context.traceContext = TraceContext(traceparent: traceparent)
        return context
    }

    @Test("a span continues the incoming trace and names its parent")
    func continues() throws {
        let sink = SpanRecorder()
        let tracer = OTLPTracer(sampler: Sampler(ratio: 0), onEnd: sink.take)
        let span = tracer.startSpan("sign", context: Self.context(of: Self.sampled), ofKind: .server)
        span.end()
        let record = try #require(sink.spans.first)
        #expect(record.trace.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(record.parent?.description == "00f067aa0ba902b7")
        #expect(record.trace == span.trace && span.context.traceContext == span.trace)
        #expect(record.trace.spanID != record.parent)
        #expect(record.kind == .server)
    }

    @Test("the tracer does not record a trace that its caller does not sample")
    func parentDecides() {
        let sink = SpanRecorder()
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), onEnd: sink.take)
        let span = tracer.startSpan("sign", context: Self.context(of: Self.unsampled))
        #expect(!span.isRecording)
        #expect(span.context.traceContext?.isSampled == false)
        #expect(span.context.traceContext?.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
        span.attributes["a"] = "b"
        span.operationName = "other"
        #expect(span.attributes.isEmpty)
        #expect(span.operationName == "sign")
        span.end()
        #expect(sink.spans.isEmpty)
    }

    @Test(
        "the tracer samples new traces at the given ratio",
        arguments: [(0.0, 0...0), (1, 4000...4000), (0.25, 850...1150)])
    func ratio(_ ratio: Double, _ expected: ClosedRange<Int>) {
        let sink = SpanRecorder()
        let tracer = OTLPTracer(sampler: Sampler(ratio: ratio), onEnd: sink.take)
        for _ in 0..<4000 { tracer.startSpan("root", context: .topLevel).end() }
        #expect(expected.contains(sink.spans.count))
        #expect(sink.spans.allSatisfy { $0.parent == nil && $0.trace.isSampled })
    }

    @Test(
        "sampling depends on the last 56 bits of the trace ID only",
        arguments: [(0.5, 0x7F_FFFF_FFFF_FFFF as UInt64)])
    func threshold(_ ratio: Double, _ last: UInt64) throws {
        let sampler = Sampler(ratio: ratio)
        for high in [1, UInt64.max] {
            #expect(sampler.samples(try #require(TraceID(high: high, low: last | 0xAB << 56))))
            #expect(!sampler.samples(try #require(TraceID(high: high, low: last + 1))))
        }
    }

    @Test(
        "the sampler clamps a ratio out of bounds",
        arguments: [(-1.0, false), (.nan, false), (2, true), (.infinity, true)])
    func oddRatio(_ ratio: Double, _ sampled: Bool) throws {
        #expect(Sampler(ratio: ratio).samples(try #require(TraceID(high: 0, low: .max))) == sampled)
    }

    @Test("without an exporter, the tracer propagates traces and records nothing")
    func noExporter() {
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), exporter: nil)
        let span = tracer.startSpan("sign", context: Self.context(of: Self.sampled))
        #expect(!span.isRecording)
        #expect(span.context.traceContext?.isSampled == true)
        #expect(span.context.traceContext?.traceID.description == "4bf92f3577b34da6a3ce929d0e0e4736")
    }

    @Test("the tracer extracts and injects header fields")
    func headerFields() throws {
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), exporter: nil)
        var context = InstrumentationContext.topLevel
        tracer.extract(
            ["traceparent": Self.sampled, "tracestate": "congo=t61rcWkgMzE"], into: &context, using: Fields())
        let span = tracer.startSpan("sign", context: context)
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: Fields())
        let sent = try #require(fields["traceparent"].flatMap { TraceContext(traceparent: $0) })
        #expect(sent == TraceContext(traceparent: sent.traceparent))
        #expect(sent.traceID == context.traceContext?.traceID)
        #expect(sent.spanID == span.context.traceContext?.spanID)
        #expect(fields["tracestate"] == "congo=t61rcWkgMzE")
    }

    @Test("an invalid traceparent begins a new trace without the tracestate")
    func invalidField() {
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), exporter: nil)
        var context = InstrumentationContext.topLevel
        tracer.extract(["traceparent": "00-0-0-00", "tracestate": "a=1"], into: &context, using: Fields())
        #expect(context.traceContext == nil)
        let span = tracer.startSpan("sign", context: context)
        #expect(span.context.traceContext?.state == nil)
        var fields: [String: String] = [:]
        tracer.inject(.topLevel, into: &fields, using: Fields())
        #expect(fields.isEmpty)
    }

    @Test("a span ends once and ignores later changes")
    func endsOnce() throws {
        let sink = SpanRecorder()
        let span = OTLPTracer(sampler: Sampler(ratio: 1), onEnd: sink.take).startSpan("sign", context: .topLevel)
        #expect(span.isRecording)
        span.operationName = "POST /v1"
        span.attributes["first"] = 1
        span.end(at: Moment(7))
        span.attributes["second"] = 2
        span.end(at: Moment(8))
        #expect(!span.isRecording)
        let finished = try #require(sink.spans.first)
        #expect(sink.spans.count == 1)
        #expect(finished.end == 7)
        #expect(finished.name == "POST /v1")
        #expect(finished.attributes.count == 1 && finished.attributes["first"] != nil)
    }

    @Test("withSpan makes its trace current, and a thrown error is only a status")
    func withSpan() throws {
        let sink = SpanRecorder()
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), onEnd: sink.take)
        struct Told: Error { let pin = "1234" }
        #expect(throws: Told.self) {
            try tracer.withSpan("sign") { span in
                #expect(InstrumentationContext.current?.traceContext == span.context.traceContext)
                throw Told()
            }
        }
        let span = try #require(sink.spans.first)
        #expect(span.status?.code == .error)
        // The text of an error without a description comes from the compiler, and would show the stored PIN.
        #expect(!String(decoding: OTLPDocument.span(span), as: UTF8.self).contains("1234"))
    }
}

final class SpanRecorder: Sendable {
    private let taken = Mutex([SpanRecord]())
    var spans: [SpanRecord] { taken.withLock { $0 } }
    @Sendable func take(_ span: SpanRecord) { taken.withLock { $0.append(span) } }
}

struct Fields: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
}

struct Moment: TracerInstant {
    let nanosecondsSinceEpoch: UInt64
    init(_ nanoseconds: UInt64) { nanosecondsSinceEpoch = nanoseconds }
    static func < (first: Moment, second: Moment) -> Bool {
        first.nanosecondsSinceEpoch < second.nanosecondsSinceEpoch
    }
}
