import GatewayConfiguration
import GatewayHTTP
import OTLPTracing
import ServiceLifecycle
import TraceContext
import Tracing

/// Creates spans of requests, and sends them to the configured endpoint.
struct TraceExport: Service, RequestTracing {
    private let tracer: OTLPTracer
    private let exporter: OTLPExporter

    init(_ tracing: GatewayConfiguration.Tracing) {
        exporter = OTLPExporter(
            TraceResource(serviceName: tracing.serviceName, serviceVersion: Version.text),
            to: OTLPHTTPTransport(endpoint: tracing.endpoint))
        tracer = OTLPTracer(sampler: Sampler(ratio: tracing.sampling), exporter: exporter)
        // Inner code, down to the token call, creates its spans with this tracer.
        InstrumentationSystem.bootstrap(tracer)
    }

    func run() async throws { try await exporter.run() }

    func begin(under parent: TraceContext?) -> any RequestSpan {
        var context = ServiceContext.topLevel
        context.traceContext = parent
        return Request(span: tracer.startSpan("request", context: context, ofKind: .server))
    }

    private struct Request: RequestSpan {
        let span: OTLPSpan

        var trace: TraceContext { span.trace }

        func contain<Result>(_ body: () async throws -> Result) async rethrows -> Result {
            try await ServiceContext.$current.withValue(span.context, operation: body)
        }

        /// Names follow OpenTelemetry's semantic conventions for HTTP.
        func end(_ record: AccessRecord) {
            span.operationName = "\(record.method) \(record.route ?? "unknown path")"
            span.attributes["http.request.method"] = record.method
            if let route = record.route { span.attributes["http.route"] = route }
            span.attributes["http.response.status_code"] = record.status
            span.attributes["privyseal.request_id"] = record.requestID
            span.attributes["privyseal.listener"] = record.listener.rawValue
            if let client = record.client { span.attributes["privyseal.client"] = client }
            if let app = record.app { span.attributes["privyseal.app"] = app }
            if let feature = record.feature { span.attributes["privyseal.feature"] = feature }
            if let problem = record.problem { span.attributes["error.type"] = problem }
            if record.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
            span.end()
        }
    }
}
