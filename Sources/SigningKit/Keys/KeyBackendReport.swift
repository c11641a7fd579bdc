/// What a backend tells an operator about itself: how it fares, and what is behind it. No key and no secret is in it.
public struct KeyBackendReport: Hashable, Sendable {
    public var health: KeyBackendHealth
    /// Of the place, for people and for the labels of metrics: a token's label, a file's name. Nil where the backend
    /// tells none.
    public var name: String?
    /// Nil for a place that is not a token.
    public var token: Token?
    /// Nil for a backend that signs where it is called.
    public var pool: Pool?

    public init(health: KeyBackendHealth, name: String? = nil, token: Token? = nil, pool: Pool? = nil) {
        self.health = health
        self.name = name
        self.token = token
        self.pool = pool
    }

    /// What the token says of itself (`CK_TOKEN_INFO`, PKCS #11 v2.40 §3.2), without the blanks at the end.
    public struct Token: Hashable, Sendable {
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

    /// Sessions that sign, and the queue in front of them, all at one moment.
    public struct Pool: Hashable, Sendable {
        /// Sessions that there should be.
        public var wanted: Int
        /// Sessions that sign or could.
        public var ready: Int
        /// Of those that are ready, how many sign.
        public var busy: Int
        /// Calls that took too long, and have not come back.
        public var stuck: Int
        /// Signatures that wait for a session.
        public var queueDepth: Int
        /// Signatures that may wait.
        public var queueLimit: Int
        /// Times that sessions were opened again since the backend was opened.
        public var reconnects: Int

        public init(
            wanted: Int, ready: Int, busy: Int, stuck: Int, queueDepth: Int, queueLimit: Int, reconnects: Int
        ) {
            self.wanted = wanted
            self.ready = ready
            self.busy = busy
            self.stuck = stuck
            self.queueDepth = queueDepth
            self.queueLimit = queueLimit
            self.reconnects = reconnects
        }
    }
}

extension KeyBackend {
    /// Health only.
    public func report() async -> KeyBackendReport {
        KeyBackendReport(health: await health())
    }
}
