extension GatewayConfiguration {
    /// One door of the gateway.
    public struct Listener: Sendable {
        /// What a listener is for: its key under `listeners`, and its name in metrics and logs.
        public enum Role: String, CaseIterable, Sendable {
            /// Signatures.
            case `public`
            /// What operators ask for; nobody but administrators.
            case admin
            /// Numbers for Prometheus.
            case metrics
        }

        public let role: Role
        public internal(set) var address: ListenAddress
        /// Where the address was given, for the error of a port that is taken; nil when it is the default.
        public internal(set) var origin: ConfigurationOrigin?
        /// Nil for plain HTTP; always nil on a Unix socket.
        public internal(set) var tls: TLS?
        /// A proxy in front of it terminates TLS.
        public internal(set) var isBehindProxy = false
        /// Of a Unix socket; nil leaves it to the process's umask.
        public internal(set) var mode: SocketMode?
        /// Of a Unix socket; nil leaves it to the process's user and group.
        public internal(set) var owner: SocketOwner?

        init(role: Role, address: ListenAddress, origin: ConfigurationOrigin? = nil) {
            self.role = role
            self.address = address
            self.origin = origin
        }
    }

    /// All listeners that are configured, the public one first.
    public var listeners: [Listener] { [publicListener] + [adminListener, metricsListener].compactMap(\.self) }

    /// Where the public listener is.
    public var listen: ListenAddress { publicListener.address }

    /// Where `listen` was given; nil when it is the default.
    public var listenOrigin: ConfigurationOrigin? { publicListener.origin }
}
