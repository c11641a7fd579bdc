extension GatewayConfiguration {
    /// Limits that prevent one caller from using up the resources of the others.
    public struct Limits: SettingSection, Hashable {
        public var connections = 4096
        public var requestTimeout: Duration = .seconds(10)
        public var handshakeTimeout: Duration = .seconds(10)
        public var idleTimeout: Duration = .seconds(60)
        public var connectionAge: Duration = .seconds(3600)
        public var headerBytes = 16_384
        public var batchBodyBytes = 1_048_576
        public var clientBodyBytes = 16_777_216
        public var totalBodyBytes = 67_108_864

        public init() {}

        static let settings: [Setting<Self>] = [
            .value(
                "connections", \.connections, .integer(1...1_000_000),
                "open connections of the public listener. The admin and the metrics listener may each have as many, but at "
                    + "most 64"),
            .value(
                "requestTimeout", \.requestTimeout, .seconds(1...3600),
                "seconds from a request's first byte to the last byte of its response"),
            .value(
                "handshakeTimeout", \.handshakeTimeout, .seconds(1...300), "seconds until a TLS handshake is complete"),
            .value(
                "idleTimeout", \.idleTimeout, .seconds(1...3600),
                "seconds between two requests of a connection. Also the time for a client to read a response; after it, the "
                    + "rest of the response is lost"),
            .value(
                "connectionAge", \.connectionAge, .seconds(1...86_400),
                "seconds after which a connection ends with its next response. After this time at the latest, a client "
                    + "certificate is verified again if its CA was withdrawn or its chain has an intermediate CA"),
            .value(
                "headerBytes", \.headerBytes, .integer(1024...65_536),
                "bytes of a request's request line and header fields"),
            .value(
                "batchBodyBytes", \.batchBodyBytes, .integer(1024...16_777_216), "bytes of a batch's body"),
            .value(
                "clientBodyBytes", \.clientBodyBytes, .integer(65_536...1_073_741_824),
                "bytes of all bodies of one client in flight; at least `batchBodyBytes`"),
            .value(
                "totalBodyBytes", \.totalBodyBytes, .integer(65_536...17_179_869_184),
                "bytes of all bodies in flight; at least `clientBodyBytes`"),
        ]

        /// Without this order, the gateway would never read a body above the limit of its client.
        func finish(_ given: GivenSettings, _ findings: Findings) {
            for (key, value, other, least) in [
                ("clientBodyBytes", clientBodyBytes, "batchBodyBytes", batchBodyBytes),
                ("totalBodyBytes", totalBodyBytes, "clientBodyBytes", clientBodyBytes),
            ] where value < least {
                findings.fault(
                    "is \(value), which is less than limits.\(other), \(least); raise this one, or set that one lower",
                    at: given.origin(of: key) ?? given.origin.child(key))
            }
        }
    }
}
