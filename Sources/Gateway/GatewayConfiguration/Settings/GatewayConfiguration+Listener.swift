extension GatewayConfiguration {
    public struct Listener: Sendable {
        /// The purpose of a listener: its key under `listeners`, and its name in metrics and logs.
        public enum Role: String, CaseIterable, Sendable {
            /// Signing requests.
            case `public`
            /// Administration, for administrators only.
            case admin
            /// Metrics for Prometheus.
            case metrics
        }

        public let role: Role
        public internal(set) var address: ListenAddress
        /// The origin of the address, for the error about a port in use; nil for the default.
        public internal(set) var origin: ConfigurationOrigin?
        /// Nil for plain HTTP; always nil on a Unix socket.
        public internal(set) var tls: TLS?
        /// Whether a proxy in front of the listener terminates TLS.
        public internal(set) var isBehindProxy = false
        /// For a Unix socket; nil leaves it to the process's umask.
        public internal(set) var mode: SocketMode?
        /// For a Unix socket; nil leaves it to the process's user and group.
        public internal(set) var owner: SocketOwner?

        init(role: Role, address: ListenAddress, origin: ConfigurationOrigin? = nil) {
            self.role = role
            self.address = address
            self.origin = origin
        }
    }

    public var listeners: [Listener] { [publicListener] + [adminListener, metricsListener].compactMap(\.self) }

    public var listen: ListenAddress { publicListener.address }

    public var listenOrigin: ConfigurationOrigin? { publicListener.origin }
}
