import HummingbirdCore

/// The address of a listener.
public enum ServerAddress: Hashable, Sendable {
    /// With port 0, the system chooses a free port.
    case tcp(host: String, port: Int)
    case unixSocket(path: String)

    var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unixSocket(let path): .unixDomainSocket(path: path)
        }
    }

    func bound(to port: Int?) -> ServerAddress {
        guard case .tcp(let host, _) = self, let port else { return self }
        return .tcp(host: host, port: port)
    }
}

extension ServerAddress: CustomStringConvertible {
    /// The format of the configuration.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}
