public import Signing
public import SigningKit

/// The content of `GET /v1/status`.
public struct GatewayStatus: Sendable {
    public struct ListenerState: Encodable, Sendable {
        public let name: ListenerName
        public let address: String
        public let connections: Int
        /// Expiry of the TLS certificate in seconds since 1970; nil without TLS.
        public let certificateExpiry: Int?

        public init(name: ListenerName, address: String, connections: Int, certificateExpiry: Int?) {
            self.name = name
            self.address = address
            self.connections = connections
            self.certificateExpiry = certificateExpiry
        }
    }

    /// A warning, an error, or the result of a reload.
    public struct Event: Encodable, Sendable {
        /// RFC 3339.
        public let time: String
        public let level: String
        public let message: String

        public init(time: String, level: String, message: String) {
            self.time = time
            self.level = level
            self.message = message
        }
    }

    public let version: String
    public let uptime: Duration
    public let configuration: String
    /// The result of the last reload; nil if there was none.
    public let lastReload: Event?
    public let isReady: Bool
    /// Nil if the gateway keeps no audit log.
    public let audit: AuditSummary?
    public let listeners: [ListenerState]
    public let totals: RequestTotals.Rates
    public let keys: [KeyHandle]
    public let places: [KeyBackendReport]
    public let clients: [Client]
    /// Oldest first.
    public let events: [Event]

    public init(
        version: String, uptime: Duration, configuration: String, lastReload: Event?, isReady: Bool,
        audit: AuditSummary?, listeners: [ListenerState], totals: RequestTotals.Rates, keys: [KeyHandle],
        places: [KeyBackendReport],
        clients: [Client], events: [Event]
    ) {
        self.version = version
        self.uptime = uptime
        self.configuration = configuration
        self.lastReload = lastReload
        self.isReady = isReady
        self.audit = audit
        self.listeners = listeners
        self.totals = totals
        self.keys = keys
        self.places = places
        self.clients = clients
        self.events = events
    }
}
