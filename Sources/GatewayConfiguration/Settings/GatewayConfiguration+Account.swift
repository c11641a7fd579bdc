extension GatewayConfiguration {
    /// An account in App Store Connect: one issuer ID, its apps, and the keys that sign for them.
    public struct Account: Sendable {
        /// As it was written, whether or not it is a UUID: Apple compares the text.
        public let issuerID: String
        /// At least one.
        public let apps: [App]
        /// At least one.
        public let keys: [Key]
        /// The ID of the key, one of `keys`, that signs unless a caller chooses another.
        public let activeKeyID: String
        /// Whether what brings a key in, into force or out of existence wants two administrators.
        public let hasDualControl: Bool
        /// Whether `operator`, root and the gateway's own user, counts as an administrator for that.
        public let countsOperator: Bool
        /// How long a proposal waits for the second administrator.
        public let proposalLifetime: Duration
        public let origin: ConfigurationOrigin
    }

    public struct App: Sendable {
        public let bundleID: String
        /// The IDs of the features that may be asked for, at least one, each once.
        public let features: [String]
        public let origin: ConfigurationOrigin
    }
}
