import HTTPTypes
import Hummingbird
import Signing
import SigningKit
import TraceContext

/// The outermost middleware: sets a request's ID and trace context, and reports the answer to log and metrics.
struct RequestScopeMiddleware: RouterMiddleware {
    typealias Context = GatewayContext

    let log: (any AccessLog)?
    let metrics: RequestMetrics?
    let totals: RequestTotals?
    let tracing: (any RequestTracing)?

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let begun = ContinuousClock.now
        let parent = request.headers[.traceParent].flatMap {
            TraceContext(traceparent: $0, tracestate: request.headers[.traceState])
        }
        let span = tracing?.begin(under: parent)
        let scope = RequestScope(
            requestID: Self.requestID(request), trace: span?.trace ?? parent?.child(), begun: begun)
        var context = context
        context.scope = scope
        context.connection.begin(scope)
        defer {
            context.connection.finish()
            scope.known.body?.end()
        }
        var response = try await RequestScope.$current.withValue(scope) {
            guard let span else { return try await next(request, context) }
            return try await span.contain { try await next(request, context) }
        }
        response.headers[.requestID] = scope.requestID
        if request.method == .head { Self.leaveOutBody(of: &response) }
        if let trace = scope.trace { response.headers[.traceParent] = trace.traceparent }
        if let limit = scope.known.limit { response.headers.set(limit) }
        let known = scope.known
        // The status that the caller received. The connection may have answered before the route did.
        let status = known.ending?.status ?? response.status
        totals?.note(status.code)
        guard log != nil || metrics != nil || span != nil else { return response }
        let record = AccessRecord(
            requestID: scope.requestID, traceID: scope.trace.map { "\($0.traceID)" },
            listener: context.connection.listener, method: request.method.rawValue, route: Self.route(context),
            status: status.code, duration: .now - begun, client: known.client, app: known.app,
            feature: known.feature, problem: (known.ending ?? known.problem)?.rawValue)
        span?.end(record)
        metrics?.note(record)
        log?.write(record)
        return response
    }

    /// The answer to HEAD has the header of the answer to GET, and no body (RFC 9110 §9.3.2).
    private static func leaveOutBody(of response: inout Response) {
        let length = response.body.contentLength
        response.body = ResponseBody()
        if let length { response.headers[.contentLength] = String(length) }
    }

    /// For an unknown path, the router sets a name without a leading slash.
    private static func route(_ context: Context) -> String? {
        context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    /// The caller's own ID if it is valid, otherwise a new one.
    private static func requestID(_ request: Request) -> String {
        guard let given = request.headers[.requestID], RequestID.accept(given) else { return RequestID.next() }
        return given
    }
}
