import AuditKit
import AuditLog
import GatewayConfiguration
public import HTTPTypes
public import HummingbirdCore
import KeyLifecycle
import Logging
import NIOCore
import Signing
import SigningKit
import Synchronization
import TraceContext

/// The routes of a listener. It finds the route of each request, turns errors into problem documents, and reports each
/// answer to the access log, the metrics and the trace.
public struct Routes: Sendable {
    public typealias Handler = @Sendable (Request, RequestScope) async throws -> Response

    struct Route: Sendable {
        let method: HTTPRequest.Method
        /// The path template, such as `/v1/apps/{bundleId}/{feature}`.
        let path: String
        let segments: [Segment]
        let isForAdministrators: Bool
        let handler: Handler
    }

    enum Segment {
        case text(String)
        case parameter(String)
    }

    private typealias Match = (route: Route, parameters: [RequestScope.Parameter])

    let reports: AnswerReports
    private let tracing: (any RequestTracing)?
    private let gateway: SnapshotHolder
    private let bodies: BodyBudget
    /// Whether the routes that `get` and `post` add are for administrators. Otherwise they authenticate clients
    /// themselves.
    var isForAdministrators = false
    private(set) var routes: [Route] = []

    init(_ router: GatewayRouter) {
        reports = router.reports
        tracing = router.tracing
        gateway = router.gateway
        bodies = router.registry.bodies
    }

    public mutating func post(_ path: String, _ handler: @escaping Handler) {
        add(.post, path, isForAdministrators, handler)
    }

    mutating func get(_ path: String, _ handler: @escaping Handler) { add(.get, path, isForAdministrators, handler) }

    /// A resource without authorization: `GET` and `HEAD`.
    mutating func resource(_ path: String, _ handler: @escaping Handler) {
        add(.get, path, false, handler)
        add(.head, path, false, handler)
    }

    private mutating func add(
        _ method: HTTPRequest.Method, _ path: String, _ isForAdministrators: Bool, _ handler: @escaping Handler
    ) {
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { segment in
            segment.hasPrefix("{") ? Segment.parameter(String(segment.dropFirst().dropLast())) : .text(String(segment))
        }
        routes.append(
            Route(
                method: method, path: path, segments: segments, isForAdministrators: isForAdministrators,
                handler: handler))
    }

    // MARK: Requests

    /// Answers a request without a connection, for tests, also those of plugins.
    public func answer(to head: HTTPRequest, body: [UInt8] = []) async throws -> (head: HTTPResponse, body: [UInt8]) {
        let request = Request(head: head, body: HummingbirdCore.RequestBody(buffer: ByteBuffer(bytes: body)))
        let response = await respond(to: request, on: Connection(.public))
        let collected = CollectedBody()
        try await response.body.write(collected)
        return (response.head, collected.bytes.withLock { $0 })
    }

    private final class CollectedBody: ResponseBodyWriter, Sendable {
        let bytes = Mutex<[UInt8]>([])

        func write(_ part: ByteBuffer) { bytes.withLock { $0 += part.readableBytesView } }
        func finish(_ trailingHeaders: HTTPFields?) {}
    }

    func respond(to request: Request, on connection: Connection) async -> Response {
        let begun = ContinuousClock.now
        let parent = request.headers.value(.traceParent).flatMap {
            TraceContext(traceparent: $0, tracestate: request.headers[.traceState])
        }
        let span = tracing?.begin(under: parent)
        let found = matches(request).first { $0.route.method == request.method }
        let scope = RequestScope(
            requestID: Self.requestID(request), trace: span?.trace ?? parent?.child(), begun: begun,
            connection: connection, route: found?.route.path, parameters: found?.parameters ?? [])
        connection.begin(scope)
        var response = await RequestScope.$current.withValue(scope) {
            guard let span else { return await answer(request, scope, found?.route) }
            return await span.contain { await answer(request, scope, found?.route) }
        }
        connection.finish()
        let known = scope.known
        if known.bodyBytes > 0 { bodies.release(known.bodyBytes, for: known.client ?? "") }
        if request.method == .head { Self.leaveOutBody(of: &response) }
        response.headers[.date] = HTTPDate.now()
        response.headers[.requestID] = scope.requestID
        if let trace = scope.trace { response.headers[.traceParent] = trace.traceparent }
        if let limit = known.limit { response.headers.set(limit) }
        // The status that the caller received. The connection may have answered before the route did.
        let status = known.ending?.status ?? response.status
        let record = AccessRecord(
            requestID: scope.requestID, traceID: scope.trace?.traceID.description, listener: connection.listener,
            method: request.method.rawValue, route: scope.route, status: status.code,
            duration: (known.endedAt ?? .now) - begun,
            client: known.client, app: known.app, feature: known.feature,
            problem: (known.ending ?? known.problem)?.name)
        span?.end(record)
        reports.note(record)
        return response
    }

    /// The routes with the path of a request, for any method.
    private func matches(_ request: Request) -> some Sequence<Match> {
        // A target that is not a path, such as "*", has a first segment that is not empty.
        let segments = request.uri.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return routes.lazy.compactMap { route in
            segments[0].isEmpty ? Self.match(route.segments, segments[1...]).map { (route, $0) } : nil
        }
    }

    private func missing(_ request: Request) -> Problem {
        let path = request.uri.path
        let allowed = matches(request).map { $0.route.method.rawValue }.joined(separator: ", ")
        if allowed.isEmpty { return .notFound(path) }
        var problem = Problem(.methodNotAllowed, "\(path) allows \(allowed), not \(request.method).")
        problem.headers[.allow] = allowed
        return problem
    }

    /// - Returns: nil if the path does not match. A parameter is one segment, and not empty.
    private static func match(
        _ template: [Segment], _ path: ArraySlice<Substring.UTF8View>
    ) -> [RequestScope.Parameter]? {
        guard template.count == path.count else { return nil }
        var parameters: [RequestScope.Parameter] = []
        for (expected, segment) in zip(template, path) {
            switch expected {
            case .text(let text): guard segment.elementsEqual(text.utf8) else { return nil }
            case .parameter(let name):
                guard !segment.isEmpty else { return nil }
                parameters.append((name, Substring(segment)))
            }
        }
        return parameters
    }

    private func answer(_ request: Request, _ scope: RequestScope, _ route: Route?) async -> Response {
        do {
            guard let route else { throw missing(request) }
            if route.isForAdministrators { try await scope.requireAdministrator(request, in: gateway.current) }
            return try await route.handler(request, scope)
        } catch {
            var problem = Self.problem(for: error)
            if !(await record(problem, scope)) { problem = .auditUnavailable }
            problem.requestID = scope.requestID
            scope.note { $0.problem = problem.kind }
            return problem.response
        }
    }

    // MARK: Refusals

    private static let signingRoutes: Set = [
        SigningRoutes.single, SigningRoutes.batch, SigningRoutes.service, SigningRoutes.compatibility,
    ]

    /// Records a refusal in the audit log: an entry for each signing request without a signature, and counts of refusals
    /// by authentication, authorization and limits. Other failed requests, such as unknown paths, are in the access log
    /// only.
    ///
    /// - Returns: false if the refusal cannot be recorded.
    private func record(_ problem: Problem, _ scope: RequestScope) async -> Bool {
        guard let audit = gateway.audit else { return true }
        let known = scope.known
        let reason = RefusalReason(problem)
        if reason.isCounted {
            audit.count(reason.type, client: known.client)
            return true
        }
        guard let client = known.client, problem.kind != .auditUnavailable,
            Self.signingRoutes.contains(scope.route ?? "")
        else { return true }
        // Charge a request that was refused before it was charged to the client's rate. Over the rate it is only
        // counted. Otherwise a client could fill the disk with requests that are refused early.
        let snapshot = gateway.current
        if !known.isAdmitted, let own = snapshot.clients.client(named: client), await !snapshot.dispatcher.charge(own) {
            audit.count(reason.type, client: client)
            return true
        }
        do {
            try await audit.record(
                .refusal(
                    client: client, app: known.app, feature: known.feature, keyID: known.keyID, reason: reason.type,
                    status: reason.status, requestID: scope.requestID))
            return true
        } catch {
            return false
        }
    }

    private static func problem(for error: any Error) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as GatewayError:
            log(error)
            return Problem(error)
        case let refusal as KeyLifecycleRefusal: return Problem(refusal)
        default:
            RequestScope.logger.error("A request failed with an unexpected error: \(error)")
            return Problem(.internalError, "The gateway's log says more.")
        }
    }

    /// Logs what the answer does not tell the caller about a key. A failing key was logged once when it failed. So a
    /// request that meets such a key is logged at debug level, or these lines would hide all others.
    private static func log(_ error: GatewayError) {
        guard case .key(let error, let keyID) = error else { return }
        let level: Logger.Level = if case .failed = error { .error } else { .debug }
        RequestScope.logger.log(level: level, "No signature: \(error)", metadata: ["keyId": "\(keyID)"])
    }

    /// The answer to HEAD has the header of the answer to GET, and no body (RFC 9110 §9.3.2).
    private static func leaveOutBody(of response: inout Response) {
        let length = response.body.contentLength
        response.body = ResponseBody()
        if let length { response.headers[.contentLength] = String(length) }
    }

    /// The caller's own ID if it is valid, otherwise a new one.
    private static func requestID(_ request: Request) -> String {
        guard let given = request.headers.value(.requestID), RequestID.accept(given) else { return RequestID.next() }
        return given
    }
}
