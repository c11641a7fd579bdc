public import Hummingbird
public import SigningGateway

/// Every route of the service.
public enum GatewayRouter {
    public static func make(
        dispatcher: Dispatcher, ring: KeyRing, monitor: KeyRingMonitor, drain: Drain
    ) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: ProblemMiddleware(methods: MethodTable(routes)))
        let health = HealthRoutes(monitor: monitor, drain: drain)
        let keySet = KeySetRoute(ring: ring)
        router.post(RouterPath(SignatureRoute.path), use: SignatureRoute(dispatcher: dispatcher).respond)
        router.get(RouterPath(CompatibilityRoute.path), use: CompatibilityRoute(dispatcher: dispatcher).respond)
        for (path, respond) in [
            (KeySetRoute.path, keySet.respond), (HealthRoutes.livePath, health.live),
            (HealthRoutes.readyPath, health.ready),
        ] {
            router.get(RouterPath(path), use: respond)
            router.head(RouterPath(path), use: respond)
        }
        return router
    }

    /// The same routes, for telling 405 from 404.
    private static let routes: [(method: HTTPRequest.Method, path: String)] = [
        (.post, SignatureRoute.path), (.get, CompatibilityRoute.path), (.get, KeySetRoute.path),
        (.head, KeySetRoute.path), (.get, HealthRoutes.livePath), (.head, HealthRoutes.livePath),
        (.get, HealthRoutes.readyPath), (.head, HealthRoutes.readyPath),
    ]
}
