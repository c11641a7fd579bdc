/// A backend's report for operators: health and details. It contains no key and no secret.
public struct KeyBackendReport: Hashable, Codable, Sendable {
    public var health: KeyBackendHealth
    /// A name for people and for metric labels: a token's label or a file's name. Nil if the backend has none.
    public var name: String?
    /// Nil for a backend without a token.
    public var token: Token?
    /// Nil for a backend that signs on the calling thread.
    public var pool: Pool?

    public init(health: KeyBackendHealth, name: String? = nil, token: Token? = nil, pool: Pool? = nil) {
        self.health = health
        self.name = name
        self.token = token
        self.pool = pool
    }

    /// A device that holds keys, as it describes itself.
    public struct Token: Hashable, Codable, Sendable {
        public var label: String
        public var manufacturer: String
        public var model: String
        public var serial: String
        /// Such as `2.6`.
        public var firmware: String

        public init(label: String, manufacturer: String, model: String, serial: String, firmware: String) {
            self.label = label
            self.manufacturer = manufacturer
            self.model = model
            self.serial = serial
            self.firmware = firmware
        }
    }

    /// The sessions or connections that sign in parallel and their queue, all at the same time.
    public struct Pool: Hashable, Codable, Sendable {
        /// The number of sessions required.
        public var wanted: Int
        /// The number of sessions that sign or are able to.
        public var ready: Int
        /// The number of ready sessions that sign now.
        public var busy: Int
        /// The number of calls that exceeded the timeout and have not returned.
        public var hungCalls: Int
        /// The number of signatures that wait for a session.
        public var queueDepth: Int
        /// The largest number of signatures that may wait.
        public var queueLimit: Int
        /// How often sessions were reopened since the backend was opened.
        public var reconnects: Int

        public init(
            wanted: Int, ready: Int, busy: Int, hungCalls: Int, queueDepth: Int, queueLimit: Int, reconnects: Int
        ) {
            self.wanted = wanted
            self.ready = ready
            self.busy = busy
            self.hungCalls = hungCalls
            self.queueDepth = queueDepth
            self.queueLimit = queueLimit
            self.reconnects = reconnects
        }
    }
}

extension KeyBackend {
    /// The default implementation reports health only.
    public func report() async -> KeyBackendReport { KeyBackendReport(health: await health()) }
}

public enum KeyBackendHealth: Hashable, Codable, Sendable {
    case ready
    /// It signs, but an operator should look into it. The sentence says why.
    case degraded(String)
    /// It does not sign now. The sentence says why.
    case unavailable(String)
}
