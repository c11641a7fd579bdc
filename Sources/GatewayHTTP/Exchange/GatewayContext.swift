public import Hummingbird
import Logging

/// What a route is given besides the request.
public struct GatewayContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    var exchange = Exchange.none
    let connection: Connection

    /// The server's own has a level that leaves out what is said of requests.
    private static let requestLogger = Logger(label: "privyseal.requests")

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = Connection.current ?? Connection(.public)
        logger = Self.requestLogger
    }
}
