import GatewayConfiguration
import HummingbirdCore

extension GatewayConfiguration.ListenAddress {
    var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unixSocket(let path): .unixDomainSocket(path: path)
        }
    }

    func bound(to port: Int?) -> Self {
        guard case .tcp(let host, _) = self, let port else { return self }
        return .tcp(host: host, port: port)
    }
}
