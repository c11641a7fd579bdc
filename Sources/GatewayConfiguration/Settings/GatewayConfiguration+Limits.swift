extension GatewayConfiguration {
    /// What one caller cannot take from the others.
    public struct Limits: Hashable, Sendable {
        /// Open at once, of all listeners together.
        public internal(set) var connections = 4096
        /// From a request's first byte to the last byte of its answer.
        public internal(set) var requestTimeout: Duration = .seconds(10)
        /// From the connection to the end of the TLS handshake.
        public internal(set) var handshakeTimeout: Duration = .seconds(10)
        /// Between two requests of one connection.
        public internal(set) var idleTimeout: Duration = .seconds(60)
        /// From the connection to the answer with which it ends.
        public internal(set) var connectionAge: Duration = .seconds(3600)
        /// The request line and all header fields of a request.
        public internal(set) var headerBytes = 16_384
        /// The body of a batch.
        public internal(set) var batchBodyBytes = 1_048_576
        /// All bodies of one client that are in flight.
        public internal(set) var clientBodyBytes = 16_777_216
        /// All bodies that are in flight.
        public internal(set) var totalBodyBytes = 67_108_864

        /// The defaults.
        public init() {}
    }
}
