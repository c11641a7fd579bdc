extension GatewayConfiguration {
    /// Limits that prevent one caller from using up the resources of the others.
    public struct Limits: Hashable, Sendable {
        /// Open connections of the public listener; the admin and metrics listeners have 64 each.
        public internal(set) var connections = 4096
        /// From a request's first byte to the last byte of its answer.
        public internal(set) var requestTimeout: Duration = .seconds(10)
        /// From the connection to the end of the TLS handshake.
        public internal(set) var handshakeTimeout: Duration = .seconds(10)
        /// Between two requests of one connection.
        public internal(set) var idleTimeout: Duration = .seconds(60)
        /// From the start of a connection to the answer that ends it.
        public internal(set) var connectionAge: Duration = .seconds(3600)
        /// The request line and all header fields of a request.
        public internal(set) var headerBytes = 16_384
        /// The body of a batch.
        public internal(set) var batchBodyBytes = 1_048_576
        /// All bodies of one client in flight.
        public internal(set) var clientBodyBytes = 16_777_216
        /// All bodies in flight.
        public internal(set) var totalBodyBytes = 67_108_864

        public init() {}
    }
}
