public import Hummingbird

/// What a route is given besides the request.
public struct GatewayContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    var exchange = Exchange.none
    let connection: Connection

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = Connection.current ?? Connection(.public)
    }
}
