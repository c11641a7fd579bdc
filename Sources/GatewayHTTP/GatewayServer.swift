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
        let logger = Logger(label: "privyseal.http")
        let bound: BindAddress
        let place: String
        switch address {
        case .tcp(let host, let port): (bound, place) = (.hostname(host, port: port), "http://\(host):\(port)")
        case .unixSocket(let path): (bound, place) = (.unixDomainSocket(path: path), "unix:\(path)")
        }
        return Application(
            responder: router.buildResponder(),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: bound),
            onServerRunning: { channel in
                let port = channel.localAddress?.port.map { " (port \($0))" } ?? ""
                logger.info("Listening on \(place)\(port)")
            },
            logger: logger
        )
    }
}
