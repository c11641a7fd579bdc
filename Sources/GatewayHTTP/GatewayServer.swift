public import Hummingbird
import HummingbirdCore
import Logging
public import ServiceLifecycle

/// Where the service listens.
public enum ServerAddress: Sendable {
    case tcp(host: String, port: Int)
    case unixSocket(path: String)
}

/// Why the service cannot listen where it should.
public enum ServerAddressError: Error, CustomStringConvertible {
    /// Something is there already; a sentence's rest says what.
    case occupied(String)

    public var description: String {
        switch self {
        case .occupied(let what):
            "The gateway cannot listen: \(what). Stop what is there, or choose another \"listen\"."
        }
    }
}

/// The HTTP server around the routes.
public enum GatewayServer {
    /// - Throws: when another process listens on the Unix socket: to bind it would take it away.
    public static func make(
        _ router: Router<BasicRequestContext>, at address: ServerAddress
    ) throws(ServerAddressError) -> any Service {
        if case .unixSocket(let path) = address { try UnixSocket.requireFree(path) }
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
