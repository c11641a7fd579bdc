extension GatewayConfiguration {
    public struct Tracing: Sendable {
        /// A collector that accepts OTLP over HTTP.
        public let endpoint: Endpoint
        /// The fraction of the traces that begin here and are kept, from 0 to 1.
        public let sampling: Double
        /// `service.name` in the traces.
        public let serviceName: String
        public let origin: ConfigurationOrigin

        static let defaultServiceName = "privyseal"
    }
}
