public import StrictJSON

/// The answer of `GET /v1/signers`.
public struct SignersStatus: Codable, Sendable {
    /// Signatures since the start of the gateway that were neither recorded nor discarded.
    public let signaturesWithoutRecord: Int
    public let signers: [SignerStatus]

    public init(signaturesWithoutRecord: Int, signers: [SignerStatus]) {
        self.signaturesWithoutRecord = signaturesWithoutRecord
        self.signers = signers
    }
}

/// A signer, for `GET /v1/signers` and `GET /v1/status`.
public struct SignerStatus: Codable, Sendable {
    public struct Process: Codable, Sendable {
        public let pid: Int32
        /// The user ID.
        public let uid: UInt32
        public let ageSeconds: Int
        /// The layers of protection in force.
        public let protection: [String]
        /// The layers that are not in force, with the reasons.
        public let missingProtection: [String: String]
        /// Sentences on what the layers in force do not protect.
        @OmittedIfEmpty public private(set) var protectionLimits: [String]
        /// Digests without an answer.
        public let inProgress: Int

        public init(
            pid: Int32, uid: UInt32, ageSeconds: Int, protection: [String], missingProtection: [String: String],
            protectionLimits: [String], inProgress: Int
        ) {
            self.pid = pid
            self.uid = uid
            self.ageSeconds = ageSeconds
            self.protection = protection
            self.missingProtection = missingProtection
            self.protectionLimits = protectionLimits
            self.inProgress = inProgress
        }
    }

    public let name: String
    /// The URI of the location without secrets; nil for a signer that all its locations share.
    public let location: String?
    /// The socket of a signer that runs on its own; nil for child processes of the gateway.
    public let socket: String?
    public let processesWanted: Int
    public let processes: [Process]
    /// Processes that ended without an order.
    public let losses: Int
    /// Why no process signs; nil if one does.
    public let reason: String?

    public init(
        name: String, location: String?, socket: String?, processesWanted: Int, processes: [Process], losses: Int,
        reason: String?
    ) {
        self.name = name
        self.location = location
        self.socket = socket
        self.processesWanted = processesWanted
        self.processes = processes
        self.losses = losses
        self.reason = reason
    }
}
