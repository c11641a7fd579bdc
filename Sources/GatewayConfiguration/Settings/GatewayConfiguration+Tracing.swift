extension GatewayConfiguration {
    /// Where traces go.
    public struct Tracing: Sendable {
        /// A collector that takes OTLP over HTTP.
        public let endpoint: Endpoint
        /// How many of the traces that begin here are kept, from 0 to 1.
        public let sampling: Double
        /// `service.name` in the traces.
        public let serviceName: String
        public let origin: ConfigurationOrigin

        static let defaultServiceName = "privyseal"
    }
}
