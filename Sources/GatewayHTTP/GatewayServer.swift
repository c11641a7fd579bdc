public import Hummingbird
import HummingbirdCore
import Logging
public import ServiceLifecycle

/// Where the service listens.
public enum ServerAddress: Sendable {
    case tcp(host: String, port: Int)
    case unixSocket(path: String)
}

/// The HTTP server around the routes.
public enum GatewayServer {
    public static func make(_ router: Router<BasicRequestContext>, at address: ServerAddress) -> any Service {
        let bound: BindAddress =
            switch address {
            case .tcp(let host, let port): .hostname(host, port: port)
            case .unixSocket(let path): .unixDomainSocket(path: path)
            }
        return Application(
            responder: router.buildResponder(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: bound),
            logger: Logger(label: "privyseal.http")
        )
    }
}
