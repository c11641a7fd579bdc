import GatewayConfiguration
public import Hummingbird
import Logging

/// The request context of all routes.
public struct GatewayContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    var scope = RequestScope.none
    let connection: Connection

    /// Replaces the server's logger, whose level suppresses messages about requests.
    private static let requestLogger = Logger(label: "privyseal.requests")

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = Connection.current ?? Connection(.public)
        logger = Self.requestLogger
    }
}
