import HTTPTypes
import Hummingbird
import SigningGateway
import SigningKit
import TraceContext

/// The outermost: gives the request its ID and its place in a trace, and when it is answered, tells the caller, the log
/// and the metrics.
struct ExchangeMiddleware: RouterMiddleware {
    typealias Context = GatewayContext

    let log: (any AccessLog)?
    let metrics: ExchangeMetrics?
    let traffic: Traffic?
    let tracing: (any RequestTracing)?

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let begun = ContinuousClock.now
        let parent = request.headers[.traceParent].flatMap {
            TraceContext(traceparent: $0, tracestate: request.headers[.traceState])
        }
        let span = tracing?.begin(under: parent)
        let exchange = Exchange(requestID: Self.requestID(request), trace: span?.trace ?? parent?.child(), begun: begun)
        var context = context
        context.exchange = exchange
        context.connection.begin(exchange)
        defer {
            context.connection.finish()
            exchange.known.body?.end()
        }
        var response = try await Exchange.$current.withValue(exchange) {
            guard let span else { return try await next(request, context) }
            return try await span.contain { try await next(request, context) }
        }
        response.headers[.requestID] = exchange.requestID
        if request.method == .head { Self.leaveOutBody(of: &response) }
        if let trace = exchange.trace { response.headers[.traceParent] = trace.traceparent }
        if let limit = exchange.known.limit { response.headers.set(limit) }
        await RequestLoop.current?.keepStep()
        let known = exchange.known
        // What the caller was answered, by its connection if that could not wait any longer.
        let status = known.ending?.status ?? response.status
        traffic?.note(status.code)
        guard log != nil || metrics != nil || span != nil else { return response }
        let record = AccessRecord(
            requestID: exchange.requestID, traceID: exchange.trace.map { "\($0.traceID)" },
            listener: context.connection.listener, method: request.method.rawValue, route: Self.route(context),
            status: status.code, duration: .now - begun, client: known.client, app: known.app,
            feature: known.feature, problem: (known.ending ?? known.problem)?.rawValue)
        span?.end(record)
        metrics?.note(record)
        log?.write(record)
        return response
    }

    /// The answer to HEAD has the header of the answer to GET, and nothing behind it (RFC 9110 §9.3.2).
    private static func leaveOutBody(of response: inout Response) {
        let length = response.body.contentLength
        response.body = ResponseBody()
        if let length { response.headers[.contentLength] = String(length) }
    }

    /// The router has a name of its own for a path that there is not.
    private static func route(_ context: Context) -> String? {
        context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The caller's own, where it can stand in a log.
    private static func requestID(_ request: Request) -> String {
        guard let given = request.headers[.requestID], RequestID.accept(given) else { return RequestID.next() }
        return given
    }
}
