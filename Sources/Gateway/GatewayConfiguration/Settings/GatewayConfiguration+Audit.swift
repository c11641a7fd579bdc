public import SigningKit

extension GatewayConfiguration {
    /// The settings of the audit log, which records signatures and refusals. Nothing is opened yet.
    public struct Audit: Sendable {
        /// An SQLite database. The gateway creates it if it is missing.
        public let database: File
        /// The log's private key. The gateway creates it with the log if both are missing.
        public let key: File
        /// The log's name in checkpoints (C2SP tlog-checkpoint); nil: from the host's name. Only a new log takes it.
        public let origin: String?
        /// The gateway refuses a request whose write takes longer, and releases no signature.
        public let writeTimeout: Duration
        /// The gateway raises an alarm if less than this is free on the database's disk.
        public let reserveBytes: Int
        public let checkpoints: Checkpoints
        public let section: ConfigurationOrigin
    }

    /// The interval and the destinations of the log's signed checkpoints.
    public struct Checkpoints: Sendable {
        public enum Output: String, CaseIterable, Sendable {
            case none, stdout, syslog
        }

        public let interval: Duration
        /// The gateway appends checkpoints to it.
        public let file: File
        public let output: Output
        /// The URL for posting checkpoints; nil for none. Plain HTTP is allowed on this machine only.
        public let endpoint: Endpoint?
        /// The file with the bearer token for `endpoint`; nil without an endpoint.
        public let tokenFile: File?
        /// Signs the checkpoints, in addition to the log's own key.
        public let cosigner: Cosigner?
    }

    /// A P-256 key, configured like the accounts' keys. It is not opened yet.
    public struct Cosigner: Sendable {
        public let uri: KeyURI
        /// The URI, split by its backend.
        public let address: KeyAddress
        public let origin: ConfigurationOrigin
    }
}

extension GatewayConfiguration.Cosigner: CustomStringConvertible {
    /// For logs and tables, without the attributes that lead to a secret.
    public var description: String { uri.description }
}
