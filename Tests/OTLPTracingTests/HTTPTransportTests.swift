import NIOHTTP1
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Tracing

@testable import OTLPTracing

@Suite("OTLP over HTTP")
struct HTTPTransportTests {
    @Test("a collector receives the spans, and deliveries share a connection")
    func arrives() async throws {
        let collector = try await Collector(answering: .ok)
        let exporter = OTLPExporter(
            DocumentTests.resource, to: OTLPHTTPTransport(endpoint: collector.endpoint),
            settings: ExporterTests.settings { $0.batchSize = 1 })
        let tracer = OTLPTracer(sampler: Sampler(ratio: 1), exporter: exporter)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await exporter.run() }
                var deliveries = collector.deliveries.makeAsyncIterator()
                tracer.startSpan("first", context: .topLevel).end()
                let first = try #require(await deliveries.next())
                tracer.startSpan("second", context: .topLevel).end()
                let second = try #require(await deliveries.next())
                #expect(first.head.method == .POST)
                #expect(first.head.uri == "/v1/traces")
                #expect(first.head.headers["Content-Type"] == ["application/json"])
                #expect(first.head.headers["traceparent"].isEmpty)
                #expect(first.body.contains("\"name\":\"first\""))
                #expect(second.body.contains("\"name\":\"second\""))
                #expect(first.port == second.port)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        try await collector.close()
    }

    @Test("post throws the status and Retry-After of a refusal")
    func answers() async throws {
        let collector = try await Collector(answering: .serviceUnavailable, headers: ["Retry-After": "17"])
        await #expect(throws: DeliveryProblem.status(503, retryAfter: .seconds(17))) {
            try await OTLPHTTPTransport(endpoint: collector.endpoint).post([])
        }
        try await collector.close()
    }

    @Test("post does not follow a redirect")
    func redirect() async throws {
        let other = try await Collector(answering: .ok)
        let collector = try await Collector(answering: .temporaryRedirect, headers: ["Location": other.endpoint])
        await #expect(throws: DeliveryProblem.status(307, retryAfter: nil)) {
            try await OTLPHTTPTransport(endpoint: collector.endpoint).post([])
        }
        try await collector.close()
        try await other.close()
    }

    @Test(
        "an endpoint without a listener is an error at once",
        arguments: ["http://127.0.0.1:1/v1/traces", "nonsense", ""])
    func unreachable(_ endpoint: String) async throws {
        await #expect {
            try await OTLPHTTPTransport(endpoint: endpoint).post([])
        } throws: { error in
            if case DeliveryProblem.unreachable = error { true } else { false }
        }
    }

    @Test(
        "the log names the endpoint without user and password",
        arguments: [
            ("http://user:secret@collector:4318/v1/traces", "http://collector:4318/v1/traces"),
            ("http://user@secret@collector/", "http://collector/"), ("http://collector/a@b", "http://collector/a@b"),
            ("nonsense", "nonsense"),
        ])
    func destination(_ endpoint: String, _ shown: String) {
        #expect(OTLPHTTPTransport(endpoint: endpoint).destination == shown)
    }
}
