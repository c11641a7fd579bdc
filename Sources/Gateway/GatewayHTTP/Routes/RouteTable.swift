import Hummingbird

/// The routes of a listener: one list for the router, the documentation and the methods of each path.
struct RouteTable {
    typealias Handler = @Sendable (Request, GatewayContext) async throws -> Response

    struct Route {
        let method: HTTPRequest.Method
        let path: String
        let handler: Handler
    }

    private(set) var routes: [Route] = []

    mutating func post(_ path: String, _ handler: @escaping Handler) {
        routes.append(Route(method: .post, path: path, handler: handler))
    }

    mutating func get(_ path: String, _ handler: @escaping Handler) {
        routes.append(Route(method: .get, path: path, handler: handler))
    }

    /// A resource without authorization: `GET` and `HEAD`.
    mutating func resource(_ path: String, _ handler: @escaping Handler) {
        get(path, handler)
        routes.append(Route(method: .head, path: path, handler: handler))
    }

    func router(_ scope: RequestScopeMiddleware, _ recorder: RefusalRecorder) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        router.add(middleware: scope)
        router.add(
            middleware:
                ProblemMiddleware(methods: MethodTable(routes.map { ($0.method, $0.path) }), recorder: recorder))
        for route in routes { router.on(RouterPath(route.path), method: route.method, use: route.handler) }
        return router
    }
}
