import Logging
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing
import TraceContext
import Tracing

@testable import OTLPTracing

@Suite("The OTLP exporter")
struct ExporterTests {
    static func settings(_ change: (inout ExportSettings) -> Void = { _ in }) -> ExportSettings {
        var settings = ExportSettings()
        settings.interval = .seconds(3600)
        change(&settings)
        return settings
    }

    static func drops(_ metrics: TestMetrics) throws -> Int64 {
        try metrics.expectCounter("privyseal_spans_dropped_total").values.reduce(0, +)
    }

    /// Runs an exporter during `body`, then asks it to stop and waits until it has stopped.
    static func running(
        _ transport: FakeTransport, _ settings: ExportSettings = settings(), metrics: TestMetrics = TestMetrics(),
        log: LogLines = LogLines(), pauses: FakePauses = FakePauses(),
        _ body: @Sendable (OTLPTracer) async throws -> Void
    ) async throws {
        let exporter = OTLPExporter(
            DocumentTests.resource, to: transport, settings: settings, logger: log.logger, metrics: metrics,
            pause: { try await pauses.pause($0) })
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await exporter.run() }
                try await body(OTLPTracer(sampler: Sampler(ratio: 1), exporter: exporter))
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        transport.finish()
    }

    static func end(_ count: Int, by tracer: OTLPTracer, named name: String = "span") {
        for index in 0..<count { tracer.startSpan("\(name)\(index)", context: .topLevel).end() }
    }

    static func spans(in body: String) -> Int { body.split(separator: "\"spanId\"").count - 1 }

    @Test("the exporter sends a batch as soon as it is full")
    func full() async throws {
        let transport = FakeTransport()
        try await Self.running(transport, Self.settings { $0.batchSize = 3 }) { tracer in
            Self.end(3, by: tracer)
            var calls = transport.calls.makeAsyncIterator()
            let body = try #require(await calls.next())
            #expect(body.hasPrefix(DocumentTests.before))
            #expect(Self.spans(in: body) == 3)
        }
    }

    @Test("the exporter sends a partial batch after the interval")
    func interval() async throws {
        let transport = FakeTransport()
        try await Self.running(transport, Self.settings { $0.interval = .milliseconds(1) }) { tracer in
            Self.end(1, by: tracer)
            var calls = transport.calls.makeAsyncIterator()
            let body = try #require(await calls.next())
            #expect(Self.spans(in: body) == 1)
        }
    }

    @Test("the exporter sends the waiting spans in batches at shutdown")
    func flush() async throws {
        let transport = FakeTransport()
        let metrics = TestMetrics()
        try await Self.running(transport, Self.settings { $0.batchSize = 4 }, metrics: metrics) { tracer in
            Self.end(3, by: tracer, named: "before")
        }
        var calls = transport.calls.makeAsyncIterator()
        let body = try #require(await calls.next())
        #expect(Self.spans(in: body) == 3)
        #expect(try Self.drops(metrics) == 0)
    }

    @Test("the exporter drops and counts spans beyond the queue limit without blocking")
    func overflow() throws {
        let metrics = TestMetrics()
        let exporter = OTLPExporter(
            DocumentTests.resource, to: FakeTransport(), settings: Self.settings { $0.queueLimit = 5 }, metrics: metrics
        )
        // The exporter does not run, so it delivers nothing.
        Self.end(12, by: OTLPTracer(sampler: Sampler(ratio: 1), exporter: exporter))
        #expect(try Self.drops(metrics) == 7)
        #expect(exporter.queue.nextBatch()?.count == 5)
        #expect(exporter.queue.nextBatch() == nil)
    }

    @Test("the exporter drops and counts spans after shutdown")
    func afterTheEnd() async throws {
        let metrics = TestMetrics()
        let exporter = OTLPExporter(
            DocumentTests.resource, to: FakeTransport(), settings: Self.settings(), metrics: metrics)
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), exporter: exporter)
        try await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            try await exporter.run()
        }
        Self.end(2, by: tracer)
        #expect(try Self.drops(metrics) == 2)
    }

    @Test("the exporter retries after a transient status", arguments: [429, 502, 503, 504])
    func retried(_ status: Int) async throws {
        let transport = FakeTransport([.status(status, retryAfter: nil), .timedOut])
        let metrics = TestMetrics()
        let pauses = FakePauses()
        try await Self.running(transport, metrics: metrics, pauses: pauses) { Self.end(1, by: $0) }
        var calls = transport.calls.makeAsyncIterator()
        let first = await calls.next()
        #expect(await calls.next() == first)
        #expect(await calls.next() == first)
        #expect(pauses.all.count == 2)
        #expect((Duration.milliseconds(500)...(.seconds(1))).contains(pauses.all[0]))
        #expect((Duration.seconds(1)...(.seconds(2))).contains(pauses.all[1]))
        #expect(try Self.drops(metrics) == 0)
    }

    @Test("the exporter does not retry after any other status", arguments: [301, 400, 401, 404, 413, 500, 501])
    func final(_ status: Int) async throws {
        let metrics = TestMetrics()
        let pauses = FakePauses()
        let transport = FakeTransport([.status(status, retryAfter: nil)])
        try await Self.running(transport, metrics: metrics, pauses: pauses) { Self.end(2, by: $0) }
        #expect(try Self.drops(metrics) == 2)
        #expect(pauses.all.isEmpty)
    }

    @Test("the exporter limits its attempts and the pause that Retry-After requests")
    func bounded() async throws {
        let never = DeliveryProblem.status(503, retryAfter: .seconds(9000))
        let metrics = TestMetrics()
        let pauses = FakePauses()
        let settings = Self.settings { $0.attempts = 3 }
        try await Self.running(
            FakeTransport(Array(repeating: never, count: 3)), settings, metrics: metrics, pauses: pauses
        ) { Self.end(2, by: $0) }
        #expect(pauses.all == [.seconds(30), .seconds(30)])
        #expect(try Self.drops(metrics) == 2)
    }

    @Test("the exporter logs an unreachable endpoint, another problem and the recovery once each")
    func logged() async throws {
        let log = LogLines()
        let answers: [DeliveryProblem] = [
            .unreachable("connection refused"), .unreachable("refused again"), .status(503, retryAfter: nil),
            .status(503, retryAfter: .seconds(1)),
        ]
        try await Self.running(FakeTransport(answers), log: log) { Self.end(1, by: $0) }
        #expect(
            log.all == [
                "warning Traces cannot be delivered: the endpoint cannot be reached (connection refused)",
                "warning Traces cannot be delivered: the endpoint answers 503",
                "notice Traces are delivered again",
            ])
    }

    @Test("shutdown waits at most for the flush time and counts lost spans")
    func stuck() async throws {
        let metrics = TestMetrics()
        let transport = FakeTransport(Array(repeating: .status(503, retryAfter: nil), count: 100))
        let pauses = FakePauses(forever: true)
        let settings = Self.settings { $0.flushTime = .milliseconds(1) }
        try await Self.running(transport, settings, metrics: metrics, pauses: pauses) { Self.end(300, by: $0) }
        #expect(try Self.drops(metrics) == 300)
    }
}

/// FakePauses between attempts that take no time, or last until they are cancelled.
final class FakePauses: Sendable {
    private let forever: Bool
    private let taken = Mutex([Duration]())
    var all: [Duration] { taken.withLock { $0 } }

    init(forever: Bool = false) { self.forever = forever }

    func pause(_ duration: Duration) async throws {
        taken.withLock { $0.append(duration) }
        if forever { try await Task.sleep(for: .seconds(3600)) }
    }
}
