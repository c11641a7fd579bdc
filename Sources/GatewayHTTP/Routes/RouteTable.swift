import Hummingbird

/// The routes of a listener, so that what is served, what is documented and which methods a path has come from one list.
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

    /// A resource that anybody may look at: `GET` and `HEAD`.
    mutating func resource(_ path: String, _ handler: @escaping Handler) {
        get(path, handler)
        routes.append(Route(method: .head, path: path, handler: handler))
    }

    func router(_ exchange: ExchangeMiddleware, _ witness: RefusalWitness) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        router.add(middleware: exchange)
        router.add(
            middleware:
                ProblemMiddleware(methods: MethodTable(routes.map { ($0.method, $0.path) }), witness: witness))
        for route in routes { router.on(RouterPath(route.path), method: route.method, use: route.handler) }
        return router
    }
}
