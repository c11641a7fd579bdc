extension GatewayConfiguration {
    /// An account in App Store Connect: one issuer ID, its apps, and the keys that sign for them.
    public struct Account: Sendable {
        /// As written, even if it is not a UUID: Apple compares the text.
        public let issuerID: String
        /// At least one.
        public let apps: [App]
        /// At least one.
        public let keys: [Key]
        /// The ID of the key in `keys` that signs unless a caller chooses another.
        public let activeKeyID: String
        /// Whether to import, generate, activate, restore or destroy a key requires two administrators.
        public let hasDualControl: Bool
        /// Whether `operator` (root and the gateway's own user) counts as one of them.
        public let countsOperator: Bool
        /// How long a proposal waits for the second administrator.
        public let proposalLifetime: Duration
        public let origin: ConfigurationOrigin
    }

    public struct App: Sendable {
        public let bundleID: String
        /// The IDs of the features that clients may request: at least one, each once.
        public let features: [String]
        public let origin: ConfigurationOrigin
    }
}
