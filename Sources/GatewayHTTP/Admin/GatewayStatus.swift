public import SigningGateway
public import SigningKit

/// Everything that an operator wants to see at one glance.
public struct GatewayStatus: Sendable {
    public struct ListenerState: Sendable {
        public let name: ListenerName
        public let address: String
        public let connections: Int
        /// When its certificate ends, in seconds since 1970; nil without TLS.
        public let certificateExpiry: Int?

        public init(name: ListenerName, address: String, connections: Int, certificateExpiry: Int?) {
            self.name = name
            self.address = address
            self.connections = connections
            self.certificateExpiry = certificateExpiry
        }
    }

    /// A warning or an error.
    public struct Event: Sendable {
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
    /// What came of the last reload; nil when there was none.
    public let lastReload: Event?
    public let isReady: Bool
    /// Nil for a gateway that keeps no record.
    public let audit: AuditSummary?
    public let listeners: [ListenerState]
    public let traffic: Traffic.Rates
    public let keys: [KeySlot]
    public let places: [KeyBackendReport]
    public let clients: [Client]
    /// The latest last.
    public let events: [Event]

    public init(
        version: String, uptime: Duration, configuration: String, lastReload: Event?, isReady: Bool,
        audit: AuditSummary?, listeners: [ListenerState], traffic: Traffic.Rates, keys: [KeySlot],
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
        self.traffic = traffic
        self.keys = keys
        self.places = places
        self.clients = clients
        self.events = events
    }
}
