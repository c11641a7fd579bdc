public import SigningKit

extension GatewayConfiguration {
    /// The record of what was signed, and of what was not. Nothing is opened yet.
    public struct Audit: Sendable {
        /// An SQLite database; made when it is not there.
        public let database: File
        /// The log's private key; made with the log when both are missing.
        public let key: File
        /// What the log is called in its checkpoints (C2SP tlog-checkpoint); nil when it follows from the host's name. Only
        /// a log that is made takes it.
        public let origin: String?
        /// A write that takes longer is refused, and nothing is released.
        public let writeTimeout: Duration
        /// When less than this is free on the database's disk, an alarm is raised.
        public let reserveBytes: Int
        public let checkpoints: Checkpoints
        /// Of the whole section.
        public let section: ConfigurationOrigin
    }

    /// How often the log's state is signed for others to keep, and where it goes.
    public struct Checkpoints: Sendable {
        public enum Output: String, CaseIterable, Sendable {
            case none, stdout, syslog
        }

        public let interval: Duration
        /// Checkpoints are appended to it.
        public let file: File
        public let output: Output
        /// Where they are posted to; nil when they are not. Over plain HTTP it is on this machine.
        public let endpoint: Endpoint?
        /// Holds the bearer token for `endpoint`; nil without an endpoint.
        public let tokenFile: File?
        /// Signs them besides the log's own key.
        public let cosigner: Cosigner?
    }

    /// A P-256 key, in the words of the accounts' keys. It has not been opened yet.
    public struct Cosigner: Sendable {
        public let uri: KeyURI
        /// The URI as its backend splits it.
        public let address: KeyAddress
        public let origin: ConfigurationOrigin
    }
}

extension GatewayConfiguration.Cosigner: CustomStringConvertible {
    /// For logs and tables: without what leads to a secret.
    public var description: String { uri.description }
}
